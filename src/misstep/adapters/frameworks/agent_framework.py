"""Runs agents of Microsoft's Agent Framework as agents under test, and calls its tools."""

import copy
from collections.abc import Awaitable, Callable
from typing import Any

from misstep.adapters.arguments import open_model, read_arguments
from misstep.adapters.frameworks import natives
from misstep.adapters.loading.registry import Build
from misstep.adapters.toolset.calling import Loop
from misstep.core.agent import Answer, Assignment, Tool, Toolbox
from misstep.core.outcome import Usage


def library() -> Any:
    return natives.imported("Agent Framework", "agent-framework", "agent_framework")


async def run(build: Build, assignment: Assignment, toolbox: Toolbox) -> Answer:
    native = build(natives.tools_for_framework(assignment, toolbox, "agent-framework", _tool, _rerouted))
    framework, watch = library(), _Watch(toolbox)
    middleware = {"middleware": [framework.chat_middleware(watch)]}
    if isinstance(native, framework.AgentMiddlewareLayer):
        reply = await native.run(assignment.request, **middleware)
    elif isinstance(native, framework.RawAgent):
        reply = await native.run(assignment.request, client_kwargs=middleware)
    else:
        reply = await native.run(assignment.request)
        toolbox.spend(_usage(reply.usage_details))
    return Answer(reply.text, "iterations" if watch.cut_short else "answered")


def retool(value: Any) -> Build:
    if not isinstance(value, library().RawAgent):
        raise natives.not_exchangeable(value, "def make_agent(tools): return Agent(client, tools=tools)")

    def build(tools: list[Any]) -> Any:
        native = copy.copy(value)
        native.default_options = {**value.default_options, "tools": tools}
        native.mcp_tools = []
        native.context_providers = list(value.context_providers)
        return native

    return build


class _Watch:
    """Tells the toolbox about every model request and reply."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._turns = 0
        self.cut_short = False

    async def __call__(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        turn = self._toolbox.begin_turn()
        self._turns += 1
        # Past its limit on tool calls, the framework only asks for a final answer.
        configuration = getattr(context.client, "function_invocation_configuration", {})
        limit = configuration.get("max_iterations", self._turns)
        self.cut_short = bool(self._turns > limit and context.options.get("tool_choice") == "none")
        await call_next()
        reply = context.result
        self._toolbox.spend(_usage(reply.usage_details))
        for message in reply.messages:
            self._toolbox.note(message.to_dict())
            for content in message.contents:
                if content.type == "function_call":
                    self._toolbox.ask(content.name, read_arguments(content.arguments), turn)


def _tool(described: Tool, toolbox: Toolbox) -> Any:
    async def carry_out(**arguments: Any) -> str:
        return toolbox.call(described.name, arguments)

    return library().FunctionTool(
        name=described.name,
        description=described.description,
        func=carry_out,
        input_model=open_model(described.parameters),
    )


def _rerouted(native: Any, described: Tool, toolbox: Toolbox) -> Any:
    """A copy of a tool that validates arguments as the tool does; results are texts already."""
    natives.check_unchanged(native, "agent_framework", "invoke", "__call__", "parameters")
    routed = copy.copy(native)
    routed.func = natives.stand_in(native.func, described, toolbox.call, awaited=True)
    routed._instance = None
    routed.result_parser = None
    return routed


def _usage(details: Any) -> Usage:
    counts = details or {}
    names = ("input_token_count", "output_token_count", "cache_read_input_token_count")
    return Usage(*(counts.get(name) or 0 for name in names))


def invoker(tool: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    def invoke(arguments: dict[str, Any]) -> Any:
        parts = loop.settle(tool.invoke(arguments=arguments))
        if not isinstance(parts, list):
            return parts
        return "\n".join(str(getattr(part, "text", None) or part) for part in parts)

    return invoke
