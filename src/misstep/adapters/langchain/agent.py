"""Hears through LangChain's callbacks what models say.

LangChain itself, which is imported when it is first needed.

Tools of a toolbox as `BaseTool`s.

Runs whatever runnable the user makes of the tools.
"""

import copy
import logging
import uuid
from collections.abc import Collection, Iterable, Sequence
from functools import cache, partial, wraps
from types import new_class
from typing import Any

from misstep.adapters.arguments import read_arguments
from misstep.adapters.loading.registry import Build
from misstep.adapters.natives import check_unchanged, furnish, stand_in
from misstep.adapters.threads import in_thread
from misstep.core.agent import Answer, Assignment, StepsExhausted, Tool, Toolbox
from misstep.core.outcome import Usage
from misstep.errors import MissingExtra, UsageError


def core() -> Any:
    try:
        import langchain_core.callbacks
        import langchain_core.messages
        import langchain_core.runnables
    except ImportError as error:
        raise MissingExtra("LangChain", "langchain") from error
    return langchain_core


@cache
def mock_tool() -> Any:
    """The class of tools that take their input as it comes, be it an object or the text of a ReAct agent."""
    from langchain_core.tools import BaseTool

    class LangchainTool(BaseTool):
        def __init__(self, described: Tool, toolbox: Toolbox) -> None:
            schema = copy.deepcopy(described.parameters)
            super().__init__(name=described.name, description=described.description, args_schema=schema)
            self._toolbox = toolbox

        def _to_args_and_kwargs(self, tool_input: Any, _call_id: str | None) -> tuple[Any, dict[str, Any]]:
            return (tool_input,), {}

        def _run(self, given: Any) -> str:
            return self._toolbox.call(self.name, read_arguments(given))

        async def _arun(self, given: Any) -> str:
            return self._run(given)

    return LangchainTool


def rerouted(native: Any, described: Tool, toolbox: Toolbox) -> Any:
    """A copy of a tool that checks its input as the tool does, then hands it on as it came."""
    check_unchanged(native, "langchain_core", "invoke", "ainvoke", "run", "arun")

    def checked(tool_input: Any, call_id: str | None) -> tuple[Any, dict[str, Any]]:
        type(native)._to_args_and_kwargs(routed, copy.deepcopy(tool_input), call_id)
        return (tool_input,), {}

    @wraps(native._run)
    def carry_out(given: Any, **_info: Any) -> Any:
        text = toolbox.call(described.name, given_by(described, given))
        return (text, None) if native.response_format == "content_and_artifact" else text

    @wraps(native._arun)
    async def carry_out_later(given: Any, **_info: Any) -> Any:
        return carry_out(given)

    routed = native.model_copy()
    own = {"_to_args_and_kwargs": checked, "_run": carry_out, "_arun": carry_out_later}
    own["get_input_schema"] = native.get_input_schema  # which may look at `_run`
    for name, awaited in (("func", False), ("coroutine", True)):
        if callable(function := getattr(native, name, None)):
            own[name] = stand_in(function, described, toolbox.call, awaited)
    for name, part in own.items():
        object.__setattr__(routed, name, part)
    return routed


def given_by(described: Tool, tool_input: Any) -> Any:
    """The arguments of a call; LangChain takes a text for the first of them."""
    first = next(iter(described.parameters.get("properties", ())), "")
    return {first: tool_input} if first and isinstance(tool_input, str) else read_arguments(tool_input)


STOPPED = ("Agent stopped due to max iterations.", "Agent stopped due to iteration limit or time limit.")


class _Listener:
    """Tells the toolbox what models do, once it is joined with LangChain's `BaseCallbackHandler`.

    Models may run side by side and in several threads; each run is known by its id.
    """

    raise_error = True  # StepsExhausted has to get out
    run_inline = True  # in order, before anything else happens

    def __init__(self, toolbox: Toolbox, tools: Iterable[Any], own: Collection[str]) -> None:
        self._toolbox = toolbox
        self._mocks = {described.name: described for described in toolbox.tools}
        self._private = {tool.name for tool in tools} - self._mocks.keys()
        self._turns = dict[uuid.UUID, int]()
        self._chunks = dict[uuid.UUID, list[Any]]()
        self._own = own  # tools that are LangChain's own objects
        self._in_words = False  # the last reply had no calls but those in its text
        self.was_stopped = False

    def on_chat_model_start(
        self, _serialized: Any, messages: Sequence[Sequence[Any]], *, run_id: uuid.UUID, **info: Any
    ) -> None:
        self._turns[run_id] = self._toolbox.begin_turn()
        self._private |= _names_of((info.get("invocation_params") or {}).get("tools")) - self._mocks.keys()
        for message in _since_last_reply(messages[0]):
            self._toolbox.note(message.model_dump())

    def on_llm_start(
        self, _serialized: Any, prompts: Sequence[str], *, run_id: uuid.UUID, **_info: Any
    ) -> None:
        self._turns[run_id] = self._toolbox.begin_turn()
        self._toolbox.note(prompts[0])

    def on_llm_new_token(self, _token: Any, *, run_id: uuid.UUID, chunk: Any = None, **_info: Any) -> None:
        """Keep what becomes a call: LangChain mends its arguments when it puts the pieces together."""
        message = getattr(chunk, "message", None)
        if getattr(message, "tool_call_chunks", None):
            self._chunks.setdefault(run_id, []).append(message)

    def on_llm_end(self, response: Any, *, run_id: uuid.UUID, **_info: Any) -> None:
        generation = response.generations[0][0]
        message = getattr(generation, "message", None)
        self._toolbox.spend(_usage(message, response.llm_output))
        self._toolbox.note(generation.text if message is None else message.model_dump())
        calls = _streamed(self._chunks.pop(run_id, [])) or _calls(message)
        self._in_words = not calls
        turn = self._turns.pop(run_id, None)
        for name, arguments in calls:
            self._ask(name, arguments, turn)

    def on_llm_error(self, _error: BaseException, *, run_id: uuid.UUID, **_info: Any) -> None:
        self._turns.pop(run_id, None)
        self._chunks.pop(run_id, None)

    def on_agent_action(self, action: Any, **_info: Any) -> None:
        """An `AgentExecutor` has read a call, perhaps out of the text of a reply."""
        if self._in_words:
            read = partial(given_by, self._mocks[action.tool]) if action.tool in self._own else read_arguments
            self._ask(action.tool, read(action.tool_input))

    def on_agent_finish(self, finish: Any, **_info: Any) -> None:
        """An `AgentExecutor` ends; if it does so without a word of the model, it has run into a limit."""
        self.was_stopped = not finish.log and finish.return_values.get("output") in STOPPED

    def on_tool_start(self, serialized: Any, _text: str, **_info: Any) -> None:
        """An `AgentExecutor` takes words that make no sense for a tool of this name."""
        if (serialized or {}).get("name") == "_Exception":
            self._toolbox.misread()

    def _ask(self, name: str, arguments: Any, turn: int | None = None) -> None:
        """Record a call, except one of what the agent has besides our tools: ways to give its answer."""
        if name not in self._private:
            self._toolbox.ask(name, arguments, turn)


@cache
def listener_class() -> Any:
    return new_class("Listener", (_Listener, core().callbacks.BaseCallbackHandler))


def _names_of(tools: Any) -> set[str]:
    """The names of the tools offered to a model, in OpenAI's form or Anthropic's."""
    offered = [tool for tool in tools or () if isinstance(tool, dict)]
    return {str((tool.get("function") or tool).get("name")) for tool in offered}


def _since_last_reply(messages: Sequence[Any]) -> Sequence[Any]:
    last = max((at for at, message in enumerate(messages) if message.type == "ai"), default=-1)
    return messages[last + 1 :]


def _streamed(chunks: list[Any]) -> list[tuple[str, Any]]:
    """The calls of a reply that came in pieces, as they were written."""
    if not chunks:
        return []
    whole = chunks[0] + chunks[1:]
    return [(call["name"] or "", read_arguments(call["args"])) for call in whole.tool_call_chunks]


def _calls(message: Any) -> list[tuple[str, Any]]:
    """The calls of a reply in the order of its content if that shows it, else those that are no JSON last."""
    calls = [*getattr(message, "tool_calls", ()), *getattr(message, "invalid_tool_calls", ())]
    blocks = [block for block in getattr(message, "content", ()) if isinstance(block, dict)]
    order = [block.get("call_id", block.get("id")) for block in blocks]
    calls.sort(key=lambda call: order.index(call["id"]) if call["id"] in order else len(order))
    old = getattr(message, "additional_kwargs", {}).get("function_call")
    found = calls or ([{"name": old["name"], "args": old["arguments"]}] if old else [])
    return [(call["name"] or "", read_arguments(call["args"])) for call in found]


def _usage(message: Any, output: Any) -> Usage:
    """Tokens as chat models count them or else as models for completion do; none for a reply from a cache."""
    counts = getattr(message, "usage_metadata", None) or {}
    if counts.get("total_cost") == 0:
        return Usage()
    if counts:
        cached = counts.get("input_token_details", {}).get("cache_read", 0)
        return Usage(counts["input_tokens"], counts["output_tokens"], cached or 0)
    older = (output or {}).get("token_usage") or {}
    return Usage(older.get("prompt_tokens", 0), older.get("completion_tokens", 0))


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
