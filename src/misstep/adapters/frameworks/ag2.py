"""Runs agents of AG2 as agents under test, and calls its tools."""

import copy
import json
from collections.abc import Callable
from functools import cache
from typing import Any

from misstep.adapters.arguments import read_arguments
from misstep.adapters.frameworks import natives
from misstep.adapters.loading.registry import Build
from misstep.adapters.toolset.calling import Loop
from misstep.core.agent import Answer, Assignment, Tool, Toolbox
from misstep.core.outcome import Usage
from misstep.core.text import in_words

COUNTS_CACHED_APART = ("anthropic", "bedrock")


def library() -> Any:
    return natives.imported("AG2", "ag2", "ag2")


async def run(build: Build, assignment: Assignment, toolbox: Toolbox) -> Answer:
    native = build(natives.tools_for_framework(assignment, toolbox, "ag2", _tool, _rerouted))
    unreadable = list[str]()
    watch = library().Middleware(_watch_class(), toolbox=toolbox, unreadable=unreadable)
    try:
        reply = await native.ask(assignment.request, middleware=[watch], observers=[_other_spending(toolbox)])
    except json.JSONDecodeError:
        if not unreadable:
            raise
        # The framework fails when it has to send the model's malformed arguments back.
        return Answer()
    return Answer(reply.body or "")


def retool(value: Any) -> Build:
    if not isinstance(value, library().Agent) or value.tasks:
        what = "an agent with sub-tasks" if getattr(value, "tasks", None) else ""
        factory = "def make_agent(tools): return Agent('me', …, tools=tools)"
        raise natives.not_exchangeable(value, factory, what)

    def build(tools: list[Any]) -> Any:
        native: Any = copy.copy(value)
        native.tools = list(tools)
        return native

    return build


@cache
def _watch_class() -> Any:
    from ag2.middleware import BaseMiddleware

    class Ag2Watcher(BaseMiddleware):
        """Tells the toolbox what a model says, and collects arguments that cannot be read."""

        def __init__(self, event: Any, context: Any, toolbox: Toolbox, unreadable: list[str]) -> None:
            super().__init__(event, context)
            self._toolbox = toolbox
            self._unreadable = unreadable

        async def on_llm_call(self, call_next: Any, events: Any, context: Any) -> Any:
            turn = self._toolbox.begin_turn()
            reply = await call_next(events, context)
            self._toolbox.spend(_usage(reply.usage, reply.provider))
            calls = [(call.name, read_arguments(call.arguments)) for call in reply.tool_calls.calls]
            self._toolbox.note({"content": reply.content, "calls": calls})
            self._unreadable += [arguments for _, arguments in calls if isinstance(arguments, str)]
            for name, arguments in calls:
                self._toolbox.ask(name, arguments, turn)
            return reply

    return Ag2Watcher


def _other_spending(toolbox: Toolbox) -> Any:
    """An observer that counts tokens for other work than the agent's own turns."""
    from ag2.events import UsageEvent

    async def spend(event: UsageEvent) -> None:
        if event.kind != "model_call":
            toolbox.spend(_usage(event.usage, event.provider))

    return library().observer(UsageEvent, spend)


def _tool(described: Tool, toolbox: Toolbox) -> Any:
    from ag2.context import ConversationContext

    async def carry_out(**arguments: Any) -> str:
        # The framework adds its own context, which contains the user's keys.
        own = {name: value for name, value in arguments.items() if not isinstance(value, ConversationContext)}
        return toolbox.call(described.name, own)

    schema = copy.deepcopy(described.parameters)  # the framework modifies it
    return library().tool(carry_out, name=described.name, description=described.description, schema=schema)


def _rerouted(native: Any, described: Tool, toolbox: Toolbox) -> Any:
    """A copy of a tool that validates and converts arguments as the tool does."""
    natives.check_unchanged(native, "ag2", "__call__", "register", "schemas")
    if native.model.is_generator:
        raise natives.Unroutable("it streams its result")
    routed = copy.copy(native)
    routed.model = copy.copy(native.model)
    routed.model.call = natives.stand_in(native.model.call, described, toolbox.call, awaited=True)
    return routed


def _usage(counts: Any, provider: str | None) -> Usage:
    """Tokens of a reply. Providers differ in what they count as input and output."""
    given, made = int(counts.prompt_tokens or 0), int(counts.completion_tokens or 0)
    cached, stored = int(counts.cache_read_input_tokens or 0), int(counts.cache_creation_input_tokens or 0)
    if provider in COUNTS_CACHED_APART:
        return Usage(given + cached + stored, made, cached)
    return Usage(given, max(made, int(counts.total_tokens or 0) - given), cached)


def invoker(tool: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool with an event as a model would send it; returns what the model sees."""
    from ag2.annotations import Context
    from ag2.events import ToolCallEvent
    from ag2.stream import MemoryStream

    def invoke(arguments: dict[str, Any]) -> str:
        event = ToolCallEvent(name=tool.name, arguments=json.dumps(arguments))
        answer = loop.settle(tool(event, Context(MemoryStream())))
        if isinstance(error := getattr(answer, "error", None), Exception):
            raise error
        return "\n".join(in_words(getattr(part, "content", part)) for part in answer.result.parts)

    return invoke
