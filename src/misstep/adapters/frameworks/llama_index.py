"""Runs agents of LlamaIndex as agents under test, and calls its tools."""

import copy
import re
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any

from misstep.adapters.arguments import read_arguments
from misstep.adapters.frameworks import natives
from misstep.adapters.loading.registry import Build
from misstep.adapters.toolset.calling import Loop, Returned, told
from misstep.core.agent import Answer, Assignment, Tool, Toolbox
from misstep.core.outcome import Usage
from misstep.errors import UsageError

FACTORY = "def make_agent(tools): return FunctionAgent(tools=tools, llm=…)"


def library(module: str = "agent.workflow") -> Any:
    return natives.imported("LlamaIndex", "llama-index", f"llama_index.core.{module}", hint=natives.ELSEWHERE)


async def run(build: Build, assignment: Assignment, toolbox: Toolbox) -> Answer:
    watch = _Watch(toolbox)
    tools = natives.tools_for_framework(assignment, toolbox, "llama-index", _mock_tool, _rerouted)
    # One tool for each name that the model sees.
    native = _watched(build(list({tool.metadata.name: tool for tool in tools}.values())), watch)
    _count_tokens()
    _watch_here.set(watch)
    # The framework's limit discards even an answer, so ours has to take effect first.
    output = await native.run(user_msg=assignment.request, max_iterations=toolbox.max_steps + 1)
    return Answer(str(output))


def retool(value: Any) -> Build:
    """A function that copies an agent, or a workflow in which only one agent has tools, with other tools."""
    holder = _holder_of_tools(value)

    def build(tools: list[Any]) -> Any:
        exchanged = {"tools": tools, "tool_retriever": None}
        if holder is value:
            return value.model_copy(update=exchanged)
        workflow = copy.copy(value)
        workflow.agents = {**value.agents, holder.name: holder.model_copy(update=exchanged)}
        return workflow

    return build


def _holder_of_tools(value: Any) -> Any:
    """The one agent that has the tools; code-writing agents have theirs where the code runs."""
    kinds = library("agent.workflow")
    if isinstance(value, kinds.BaseWorkflowAgent) and not isinstance(value, kinds.CodeActAgent):
        return value
    if not isinstance(value, kinds.AgentWorkflow):
        raise natives.not_exchangeable(value, FACTORY)
    members = list(value.agents.values())
    holders = [member for member in members if member.tools or member.tool_retriever] or members
    if len(holders) != 1:
        raise natives.unclear_holder(len(holders), FACTORY)
    return holders[0]


class _Watch:
    """Records one case; `names` maps the names that the model sees to the tools' own."""

    def __init__(self, toolbox: Toolbox) -> None:
        self.names = {_spoken(tool.name): tool.name for tool in toolbox.tools}
        self._toolbox = toolbox
        self._counted = list[Any]()

    def step(self, take_step: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap an agent's step, which is one model request, to record the calls of its reply."""

        async def watched(context: Any, messages: Any, tools: Sequence[Any], memory: Any) -> Any:
            turn = self._toolbox.begin_turn()
            output = await take_step(context, messages, tools, memory)
            self._read(output, {tool.metadata.name for tool in tools}, turn)
            return output

        return watched

    def _read(self, output: Any, offered: set[str], turn: int) -> None:
        if output.retry_messages:
            self._toolbox.misread()
        for name, arguments in _asked_for(output):
            # The agent's own tools, such as the one for handoffs, are ignored.
            if name in self.names or name not in offered:
                self._toolbox.ask(self.names.get(name, name), read_arguments(arguments), turn)

    def count(self, response: Any) -> None:
        """Count the tokens of a reply, which is reported once per layer it passes through."""
        raw = getattr(response, "raw", None)
        if raw is None or any(raw is counted for counted in self._counted):
            return
        self._counted.append(raw)
        self._toolbox.spend(_usage(_field(raw, "usage") or response.additional_kwargs))


_watch_here: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@cache
def _count_tokens() -> None:
    """Listen to every model in this process; the context tells which case the tokens belong to."""
    handlers, events = library("instrumentation.event_handlers"), library("instrumentation.events.llm")

    class LlamaIndexListener(handlers.BaseEventHandler):  # type: ignore[name-defined]
        def handle(self, event: Any, **_: Any) -> None:
            watch = _watch_here.get()
            if watch and isinstance(event, events.LLMChatEndEvent | events.LLMCompletionEndEvent):
                watch.count(event.response)

    library("instrumentation").get_dispatcher().add_event_handler(LlamaIndexListener())


def _watched(native: Any, watch: _Watch) -> Any:
    """A watched copy. It does not stream, because streams report tokens only on request."""
    if isinstance(native, library("agent.workflow").AgentWorkflow):
        workflow = copy.copy(native)
        workflow.agents = {name: _watched(member, watch) for name, member in native.agents.items()}
        return workflow
    if not isinstance(native, library("agent.workflow").BaseWorkflowAgent):
        raise UsageError(f"a {type(native).__name__} is not a LlamaIndex agent", FACTORY)
    copied = native.model_copy(update={"streaming": False})
    object.__setattr__(copied, "take_step", watch.step(copied.take_step))
    return copied


def _mock_tool(described: Tool, toolbox: Toolbox) -> Any:
    tools, spoken = library("tools"), _spoken(described.name)

    class Metadata(tools.ToolMetadata):  # type: ignore[name-defined]
        def get_parameters_dict(self) -> dict[str, Any]:
            return copy.deepcopy(described.parameters)

    class LlamaIndexTool(tools.AsyncBaseTool):  # type: ignore[name-defined]
        metadata = Metadata(described.description, spoken)

        def call(self, /, **arguments: Any) -> Any:
            text = toolbox.call(described.name, arguments)
            return tools.ToolOutput(tool_name=spoken, content=text, raw_input=arguments, raw_output=text)

        async def acall(self, /, **arguments: Any) -> Any:
            return self.call(**arguments)

    return LlamaIndexTool()


def _rerouted(native: Any, described: Tool, toolbox: Toolbox) -> Any:
    """A copy of a tool with the tool's own metadata."""
    natives.check_unchanged(native, "llama_index", "__call__")
    mock, routed = _mock_tool(described, toolbox), copy.copy(native)
    known = described.parameters.get("properties", {})

    def call(*_: Any, **arguments: Any) -> Any:
        """Without the context that the framework adds if the function takes one."""
        return mock.call(**{name: value for name, value in arguments.items() if name in known})

    async def acall(*_: Any, **arguments: Any) -> Any:
        return call(**arguments)

    routed.call, routed.acall = call, acall
    parts = natives.stand_ins(native, described, toolbox.call, _fn=False, _async_fn=True, _real_fn=False)
    for name, part in parts.items():
        setattr(routed, name, part)
    return routed


def _spoken(name: str) -> str:
    """The name as LlamaIndex shows it to the model."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)


def _asked_for(output: Any) -> list[tuple[str, Any]]:
    """The calls of a reply as the model wrote them, before LlamaIndex repairs their arguments."""
    blocks = [block for block in output.response.blocks if block.block_type == "tool_call"]
    if blocks:
        return [(block.tool_name, block.tool_kwargs) for block in blocks]
    calls = [(call.tool_name, call.tool_kwargs) for call in output.tool_calls]
    written = re.search(r"Action Input:[^{]*(\{.*\})", output.response.content or "", re.DOTALL)
    return [(calls[0][0], written[1])] if written and len(calls) == 1 else calls


def _usage(told: Any) -> Usage:
    """Tokens as reported by OpenAI's old or new API, or by compatible ones."""
    given = _number(told, "prompt_tokens") or _number(told, "input_tokens")
    details = _field(told, "prompt_tokens_details") or _field(told, "input_tokens_details")
    spoken = _number(told, "completion_tokens") or _number(told, "output_tokens")
    return Usage(given, spoken, _number(details, "cached_tokens"))


def _number(holder: Any, name: str) -> int:
    value = _field(holder, name)
    return value if isinstance(value, int) else 0


def _field(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)


def invoker(tool: Any, is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    def invoke(arguments: dict[str, Any]) -> Returned:
        output = loop.settle(tool.acall(**arguments)) if is_async else tool.call(**arguments)
        return told(getattr(output, "content", output), flagged=bool(getattr(output, "is_error", False)))

    return invoke
