"""Runs whatever runnable the user makes of the tools."""

import logging
import uuid
from typing import Any

from misstep.adapters.frameworks.langchain.listener import listener_class
from misstep.adapters.frameworks.langchain.package import core
from misstep.adapters.frameworks.langchain.tools import mock_tool, rerouted
from misstep.adapters.loading.registry import Build
from misstep.adapters.natives import furnish
from misstep.adapters.threads import in_thread
from misstep.core.agent import Answer, Assignment, StepsExhausted, Toolbox
from misstep.errors import UsageError

FACTORY = "def make_agent(tools): return create_agent(model, tools)"
LIMITS = ("GraphRecursionError", "ModelCallLimitExceededError", "ToolCallLimitExceededError")
SUPERSTEPS = 10_000  # of a graph; far more than our own limit on turns lets happen


class LangChainAgent:
    """Builds a runnable for every case and listens to the callbacks of whatever it runs."""

    def __init__(self, build: Build, name: str) -> None:
        self.name = name
        self._build = build

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        tools = furnish(assignment, toolbox, "langchain", mock_tool(), rerouted)
        native = self._build(tools)
        given = _input(native, assignment.request)
        own = {tool.name for tool in tools if not isinstance(tool, mock_tool())}
        listener = listener_class()(toolbox, native.tools if _is_a(native, "AgentExecutor") else (), own)
        try:
            result = await _invoke(native, given, _config(native, listener))
        except Exception as error:
            if _is_a(error, *LIMITS):
                return Answer(ended="iterations")
            if not _is_due_to_the_model(error):
                raise
            toolbox.misread()
            return Answer()
        return Answer(_text(result), "iterations" if listener.was_stopped else "answered")


def agent(build: Build, name: str) -> LangChainAgent:
    """An agent that calls `build` with the tools of each case, as `BaseTool`s, and runs what it gets."""
    core()
    logging.getLogger("langchain_core.callbacks.manager").addFilter(_is_news)
    return LangChainAgent(build, name)


def retool(value: Any) -> Build:
    """Nothing: a runnable is tied to its tools when it is made, so only the user can make another."""
    core()
    hint = f"write a function that makes it: {FACTORY}"
    raise UsageError(f"the tools of a {type(value).__name__} can't be exchanged", hint)


async def _invoke(native: Any, given: Any, config: Any) -> Any:
    if _blocks(native):
        return await in_thread(lambda: native.invoke(given, config))
    return await native.ainvoke(given, config)


def _blocks(native: Any) -> bool:
    """Whether it waits for its model in functions that are not async.

    Left to itself it would do so in threads of the event loop's own, which the end of the loop waits for.
    """
    nodes = native.nodes.items() if _is_a(native, "Pregel") else [("", native)]
    parts = [getattr(node, "bound", node) for name, node in nodes if not name.startswith("__")]
    tools = [tool for part in parts if _is_a(part, "ToolNode") for tool in part.tools_by_name.values()]
    rest = [part for part in parts if not _is_a(part, "ToolNode")]
    return all(getattr(tool, "func", True) for tool in tools) and all(_is_sync(part) for part in rest)


def _is_sync(part: Any) -> bool:
    """Whether a runnable is of a function, and async only in that somebody waits for it in a thread."""
    function, twin = getattr(part, "func", None), getattr(part, "afunc", None)
    return function is not None and (twin is None or function in getattr(twin, "args", ()))


def _input(native: Any, request: str) -> Any:
    """The request in the form that the runnable takes."""
    if not isinstance(native, core().runnables.Runnable):
        raise UsageError(f"a {type(native).__name__} is no runnable of LangChain", f"expected: {FACTORY}")
    if _is_a(native, "AgentExecutor"):
        return {"input": request}
    if not _is_a(native, "Pregel"):
        return request
    if "messages" not in native.channels:
        raise UsageError("the state of the graph has no 'messages'", "use MessagesState or a state like it")
    return {"messages": [core().messages.HumanMessage(request)]}


def _config(native: Any, listener: Any) -> dict[str, Any]:
    """A thread of its own for a graph that remembers; no limit on steps but ours, unless it has its own."""
    config = {"callbacks": [listener], "configurable": {"thread_id": str(uuid.uuid4())}}
    own = getattr(native, "config", None) or {}
    return config if "recursion_limit" in own else {**config, "recursion_limit": SUPERSTEPS}


def _text(result: Any) -> str:
    """The words of an answer, whatever they are wrapped in."""
    if isinstance(result, dict):
        messages = result.get("messages") or [""]
        result = result["output"] if "output" in result else messages[-1]
    return str(result.text) if isinstance(result, core().messages.BaseMessage) else str(result)


def _is_a(value: object, *names: str) -> bool:
    """Whether a class of one of these names is among the value's, so that none of them has to be imported."""
    return any(kind.__name__ in names for kind in type(value).__mro__)


def _is_due_to_the_model(error: BaseException) -> bool:
    """Whether LangChain gave up because it could not make sense of the model's words."""
    causes = (error, error.__cause__)
    if any(_is_a(each, "OutputParserException", "StructuredOutputError") for each in causes):
        return True
    # A call whose arguments are JSON but no object fits into no message, and is lost with it.
    return _is_a(error, "ValidationError") and getattr(error, "title", "") == "AIMessage"


def _is_news(record: logging.LogRecord) -> bool:
    """Not the warning that a callback has failed when all it does is to end the case."""
    return StepsExhausted.__name__ not in record.getMessage()
