"""Runs runnables of LangChain and LangGraph as agents under test, and calls LangChain's tools."""

import copy
import logging
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import cache, partial, wraps
from types import new_class
from typing import Any

from misstep.adapters.arguments import read_arguments
from misstep.adapters.frameworks import natives
from misstep.adapters.loading.registry import Build
from misstep.adapters.threads import in_thread
from misstep.adapters.toolset.call_interceptor import slot_of
from misstep.adapters.toolset.calling import Loop, missing
from misstep.adapters.toolset.functions import injected_parameters
from misstep.core.agent import Answer, Assignment, StepsExhausted, Tool, Toolbox
from misstep.core.outcome import Usage
from misstep.errors import UsageError


def library() -> Any:
    return natives.imported("LangChain", "langchain", "langchain_core", "callbacks", "messages", "runnables")


@cache
def mock_tool() -> Any:
    """A tool class that takes its input unchanged, an object or the text of a ReAct agent."""
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
    """A copy of a tool that validates its input as the tool does, and passes it on unchanged."""
    natives.check_unchanged(native, "langchain_core", "invoke", "ainvoke", "run", "arun")

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
    own["get_input_schema"] = native.get_input_schema  # may inspect `_run`
    own |= natives.stand_ins(native, described, toolbox.call, func=False, coroutine=True)
    for name, part in own.items():
        object.__setattr__(routed, name, part)
    return routed


def given_by(described: Tool, tool_input: Any) -> Any:
    """The arguments of a call; for LangChain, a text is the first one."""
    first = next(iter(described.parameters.get("properties", ())), "")
    return {first: tool_input} if first and isinstance(tool_input, str) else read_arguments(tool_input)


STOPPED = ("Agent stopped due to max iterations.", "Agent stopped due to iteration limit or time limit.")


class _Listener:
    """Tells the toolbox what models do; combined with LangChain's `BaseCallbackHandler`.

    Models may run concurrently and in several threads; each run has its id.
    """

    raise_error = True  # so that StepsExhausted gets through
    run_inline = True  # in order, before anything else happens

    def __init__(self, toolbox: Toolbox, tools: Iterable[Any], own: Collection[str]) -> None:
        self._toolbox = toolbox
        self._mocks = {described.name: described for described in toolbox.tools}
        self._private = {tool.name for tool in tools} - self._mocks.keys()
        self._turns = dict[uuid.UUID, int]()
        self._chunks = dict[uuid.UUID, list[Any]]()
        self._own = own  # tools that are LangChain's own objects
        self._in_words = False  # the last reply had calls only in its text, if any
        self.was_stopped = False

    def on_chat_model_start(
        self, _serialized: Any, messages: Sequence[Sequence[Any]], *, run_id: uuid.UUID, **info: Any
    ) -> None:
        self._turns[run_id] = self._toolbox.begin_turn()
        for tool in (info.get("invocation_params") or {}).get("tools") or ():
            if isinstance(tool, dict):  # in OpenAI's or Anthropic's format
                self._private |= {str((tool.get("function") or tool).get("name"))} - self._mocks.keys()
        last_reply = max((at for at, message in enumerate(messages[0]) if message.type == "ai"), default=-1)
        for message in messages[0][last_reply + 1 :]:
            self._toolbox.note(message.model_dump())

    def on_llm_start(
        self, _serialized: Any, prompts: Sequence[str], *, run_id: uuid.UUID, **_info: Any
    ) -> None:
        self._turns[run_id] = self._toolbox.begin_turn()
        self._toolbox.note(prompts[0])

    def on_llm_new_token(self, _token: Any, *, run_id: uuid.UUID, chunk: Any = None, **_info: Any) -> None:
        """Keep the parts of calls: LangChain repairs arguments when it joins them."""
        message = getattr(chunk, "message", None)
        if getattr(message, "tool_call_chunks", None):
            self._chunks.setdefault(run_id, []).append(message)

    def on_llm_end(self, response: Any, *, run_id: uuid.UUID, **_info: Any) -> None:
        generation = response.generations[0][0]
        message = getattr(generation, "message", None)
        self._toolbox.spend(_usage(message, response.llm_output))
        self._toolbox.note(generation.text if message is None else message.model_dump())
        chunks = self._chunks.pop(run_id, [])
        streamed = (chunks[0] + chunks[1:]).tool_call_chunks if chunks else []  # as they were written
        calls = streamed or _calls(message)
        self._in_words = not calls
        turn = self._turns.pop(run_id, None)
        for call in calls:
            self._ask(call["name"] or "", read_arguments(call["args"]), turn)

    def on_llm_error(self, _error: BaseException, *, run_id: uuid.UUID, **_info: Any) -> None:
        self._turns.pop(run_id, None)
        self._chunks.pop(run_id, None)

    def on_agent_action(self, action: Any, **_info: Any) -> None:
        """An `AgentExecutor` has parsed a call, perhaps from the text of a reply."""
        if self._in_words:
            read = partial(given_by, self._mocks[action.tool]) if action.tool in self._own else read_arguments
            self._ask(action.tool, read(action.tool_input))

    def on_agent_finish(self, finish: Any, **_info: Any) -> None:
        """An `AgentExecutor` ends; without any text of the model, it has reached a limit."""
        self.was_stopped = not finish.log and finish.return_values.get("output") in STOPPED

    def on_tool_start(self, serialized: Any, _text: str, **_info: Any) -> None:
        """An `AgentExecutor` turns unreadable text into a call of this tool."""
        if (serialized or {}).get("name") == "_Exception":
            self._toolbox.misread()

    def _ask(self, name: str, arguments: Any, turn: int | None = None) -> None:
        """Record a call, unless it is of the agent's own tools, such as those that give its answer."""
        if name not in self._private:
            self._toolbox.ask(name, arguments, turn)


@cache
def listener_class() -> Any:
    return new_class("Listener", (_Listener, library().callbacks.BaseCallbackHandler))


def _calls(message: Any) -> list[dict[str, Any]]:
    """The calls of a reply, in the order of its content if known, otherwise with invalid JSON last."""
    calls = [*getattr(message, "tool_calls", ()), *getattr(message, "invalid_tool_calls", ())]
    blocks = [block for block in getattr(message, "content", ()) if isinstance(block, dict)]
    order = [block.get("call_id", block.get("id")) for block in blocks]
    calls.sort(key=lambda call: order.index(call["id"]) if call["id"] in order else len(order))
    old = getattr(message, "additional_kwargs", {}).get("function_call")
    return calls or ([{"name": old["name"], "args": old["arguments"]}] if old else [])


def _usage(message: Any, output: Any) -> Usage:
    """Tokens as reported by chat models, or else by completion models; none for a cached reply."""
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
SUPERSTEPS = 10_000  # of a graph; more than our limit on turns allows


async def run(build: Build, assignment: Assignment, toolbox: Toolbox) -> Answer:
    """Listen to the callbacks of everything that a runnable runs."""
    logging.getLogger("langchain_core.callbacks.manager").addFilter(_is_news)
    tools = natives.tools_for_framework(assignment, toolbox, "langchain", mock_tool(), rerouted)
    native = build(tools)
    given = _input(native, assignment.request)
    own = {tool.name for tool in tools if not isinstance(tool, mock_tool())}
    listener = listener_class()(toolbox, native.tools if _is_a(native, "AgentExecutor") else (), own)
    # A new thread id for a graph with memory; no limit on steps but ours, unless it has its own.
    config: dict[str, Any] = {"callbacks": [listener], "configurable": {"thread_id": str(uuid.uuid4())}}
    if "recursion_limit" not in (getattr(native, "config", None) or {}):
        config["recursion_limit"] = SUPERSTEPS
    try:
        if _blocks(native):  # LangChain would use the loop's own threads, which the end of the loop waits for
            result = await in_thread(lambda: native.invoke(given, config))
        else:
            result = await native.ainvoke(given, config)
    except Exception as error:
        if _is_a(error, *LIMITS):
            return Answer(ended="iterations")
        if not _is_due_to_the_model(error):
            raise
        toolbox.misread()
        return Answer()
    return Answer(_text(result), "iterations" if listener.was_stopped else "answered")


def retool(value: Any) -> Build:
    """Always raises: a runnable's tools are fixed when it is created, so only the user can build another."""
    library()
    raise natives.not_exchangeable(value, FACTORY)


def _blocks(native: Any) -> bool:
    """Whether it waits for its model in functions that are not async."""
    nodes = native.nodes.items() if _is_a(native, "Pregel") else [("", native)]
    parts = [getattr(node, "bound", node) for name, node in nodes if not name.startswith("__")]
    tools = [tool for part in parts if _is_a(part, "ToolNode") for tool in part.tools_by_name.values()]
    rest = [part for part in parts if not _is_a(part, "ToolNode")]
    return all(getattr(tool, "func", True) for tool in tools) and all(_is_sync(part) for part in rest)


def _is_sync(part: Any) -> bool:
    """Whether a runnable wraps a plain function, so that its async form only runs it in a thread."""
    function, twin = getattr(part, "func", None), getattr(part, "afunc", None)
    return function is not None and (twin is None or function in getattr(twin, "args", ()))


def _input(native: Any, request: str) -> Any:
    """The request in the form that the runnable takes."""
    if not isinstance(native, library().runnables.Runnable):
        raise UsageError(f"a {type(native).__name__} is not a LangChain runnable", f"expected: {FACTORY}")
    if _is_a(native, "AgentExecutor"):
        return {"input": request}
    if not _is_a(native, "Pregel"):
        return request
    if "messages" not in native.channels:
        raise UsageError("the state of the graph has no 'messages'", "use MessagesState or a state like it")
    return {"messages": [library().messages.HumanMessage(request)]}


def _text(result: Any) -> str:
    """The text of an answer, whatever it is wrapped in."""
    if isinstance(result, dict):
        messages = result.get("messages") or [""]
        result = result["output"] if "output" in result else messages[-1]
    return str(result.text) if isinstance(result, library().messages.BaseMessage) else str(result)


def _is_a(value: object, *names: str) -> bool:
    """Whether one of the value's classes has one of these names, without importing them."""
    return any(kind.__name__ in names for kind in type(value).__mro__)


def _is_due_to_the_model(error: BaseException) -> bool:
    """Whether LangChain gave up because it could not parse the model's text."""
    causes = (error, error.__cause__)
    if any(_is_a(each, "OutputParserException", "StructuredOutputError") for each in causes):
        return True
    # A call with JSON arguments that are not an object does not fit into a message, and is lost.
    return _is_a(error, "ValidationError") and getattr(error, "title", "") == "AIMessage"


def _is_news(record: logging.LogRecord) -> bool:
    """Drop the warning about a failed callback that only ended the case."""
    return StepsExhausted.__name__ not in record.getMessage()


# Kinds of injected arguments that are also there without a graph.
GIVEN = ("RunnableConfig", "InjectedToolCallId", "CallbackManager")


def invoker(tool: Any, is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool as a model would, and returns what the model would see of its result."""
    with suppress(Exception):  # otherwise it turns refusals into texts
        tool.handle_validation_error = False
    name, slot = tool.name, slot_of("langchain", tool)
    for parameter, hint in injected_parameters(slot.function).items() if slot else ():
        if not any(word in str(hint) for word in GIVEN):  # only a surrounding graph could provide it
            raise missing(name, f"for '{parameter}'")

    def invoke(arguments: dict[str, Any]) -> Any:
        call = {"name": name, "args": arguments, "id": "call-1", "type": "tool_call"}
        message = loop.settle(tool.ainvoke(call)) if is_async else tool.invoke(call)
        return getattr(message, "content", message)

    return invoke
