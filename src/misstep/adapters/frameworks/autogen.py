"""Runs agents and teams of AutoGen AgentChat as agents under test, and calls its tools."""

import asyncio
import copy
from collections.abc import AsyncIterator, Callable
from functools import cache
from typing import Any

from misstep.adapters.arguments import read_arguments
from misstep.adapters.frameworks import natives
from misstep.adapters.loading.registry import Build
from misstep.adapters.toolset.calling import Loop
from misstep.core.agent import Answer, Assignment, Tool, Toolbox
from misstep.core.outcome import Usage

FACTORY = "def make_agent(tools): return AssistantAgent('me', client, tools=tools, max_tool_iterations=50)"


def library() -> Any:
    return natives.imported("AutoGen AgentChat", "autogen", "autogen_agentchat", "agents", "messages")


def _core() -> Any:
    return natives.imported("AutoGen AgentChat", "autogen", "autogen_core", "models", "tools")


async def run(build: Build, assignment: Assignment, toolbox: Toolbox) -> Answer:
    native = build(natives.tools_for_framework(assignment, toolbox, "autogen", _mock_tool(), _rerouted))
    watched = _watch(native, toolbox)
    result = await _finished(native, assignment.request)
    if not watched:
        for message in result.messages:
            toolbox.spend(_usage(message.models_usage))
    return Answer(result.messages[-1].to_text(), "iterations" if _is_cut_short(result) else "answered")


def retool(value: Any) -> Build:
    """A function that copies an `AssistantAgent` with other tools and a separate memory."""
    known = [(value, "_tools"), (value, "_workbench"), (getattr(value, "_model_context", None), "_messages")]
    has_known_parts = all(hasattr(owner, name) for owner, name in known)  # private attributes
    if not isinstance(value, library().agents.AssistantAgent) or not has_known_parts:
        raise natives.not_exchangeable(value, FACTORY)

    def build(tools: list[Any]) -> Any:
        native: Any = copy.copy(value)
        native._tools = tools
        native._workbench = [_core().tools.StaticStreamWorkbench(tools)]
        native._model_context = copy.copy(value._model_context)
        native._model_context._messages = list(value._model_context._messages)
        return native

    return build


async def _finished(native: Any, request: str) -> Any:
    """The result of a run. A cancelled team waits for its members, so these are cancelled first."""
    token = _core().CancellationToken()
    task = asyncio.ensure_future(native.run(task=request, cancellation_token=token))
    try:
        return await asyncio.shield(task)
    except RuntimeError as error:
        reason, traced, _ = str(error).partition("\nTraceback:\n")  # a team puts both into its message
        if not traced:
            raise
        raise RuntimeError(reason) from error
    finally:
        token.cancel()
        task.cancel()


def _is_cut_short(result: Any) -> bool:
    """Whether a limit of the framework ended the run."""
    if result.stop_reason:  # a team says so
        return str(result.stop_reason).startswith("Maximum number of ")
    # An agent that runs out of turns ends with tool results instead of text. One that is allowed a single
    # turn with tools (the default) always does, so that does not count.
    messages = library().messages
    requests = [message for message in result.messages if isinstance(message, messages.ToolCallRequestEvent)]
    return isinstance(result.messages[-1], messages.ToolCallSummaryMessage) and len(requests) > 1


def _watch(native: Any, toolbox: Toolbox) -> bool:
    """Watch the model client of an agent, or of a team and its members. Returns whether there was any."""
    members = [_watch(member, toolbox) for member in getattr(native, "_participants", ())]
    client = getattr(native, "_model_client", None)
    if isinstance(client, _core().models.ChatCompletionClient | _Watched):
        native._model_client = _Watched(client, toolbox)
        return True
    return any(members)


class _Watched:
    """A model client that tells the toolbox about every request and reply."""

    def __init__(self, client: Any, toolbox: Toolbox) -> None:
        # An agent that was used before already has a watched client.
        self._client: Any = client._client if isinstance(client, _Watched) else client
        self._toolbox = toolbox

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def create(self, *args: Any, **options: Any) -> Any:
        turn = self._toolbox.begin_turn()
        reply = await self._client.create(*args, **options)
        self._tell(reply, turn)
        return reply

    async def create_stream(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        turn = self._toolbox.begin_turn()
        async for piece in self._client.create_stream(*args, **options):
            if not isinstance(piece, str):
                self._tell(piece, turn)
            yield piece

    def _tell(self, reply: Any, turn: int) -> None:
        if not reply.cached:
            self._toolbox.spend(_usage(reply.usage))
        self._toolbox.note(reply.model_dump())
        for call in () if isinstance(reply.content, str) else reply.content:
            self._toolbox.ask(call.name, read_arguments(call.arguments), turn)


@cache
def _mock_tool() -> Any:
    """A tool class whose schema and arguments the framework does not change."""
    from autogen_core.tools import BaseTool
    from pydantic import BaseModel

    class AutogenTool(BaseTool[Any, Any]):
        def __init__(self, described: Tool, toolbox: Toolbox) -> None:
            super().__init__(BaseModel, str, described.name, described.description)
            self._parameters = described.parameters
            self._toolbox = toolbox

        @property
        def schema(self) -> Any:
            parameters = copy.deepcopy(self._parameters)
            return {"name": self.name, "description": self.description, "parameters": parameters}

        async def run_json(self, args: Any, cancellation_token: Any, call_id: str | None = None) -> str:  # noqa: ARG002
            return await self.run(args, cancellation_token)

        async def run(self, args: Any, cancellation_token: Any) -> str:  # noqa: ARG002
            return self._toolbox.call(self.name, args)

    return AutogenTool


def _rerouted(native: Any, described: Tool, toolbox: Toolbox) -> Any:
    """A copy of a tool that validates arguments as the tool does; results are texts already."""
    natives.check_unchanged(native, "autogen_core", "run_json")
    if hasattr(native, "run_json_stream"):
        raise natives.Unroutable("it streams its result")

    async def run(args: Any, cancellation_token: Any) -> str:  # noqa: ARG001
        return toolbox.call(described.name, args.model_dump(mode="json", exclude_unset=True))

    routed = copy.copy(native)
    routed.run = run
    routed.return_value_as_string = str
    vars(routed).update(natives.stand_ins(native, described, toolbox.call, _func=None))
    return routed


def _usage(counts: Any) -> Usage:
    return Usage(counts.prompt_tokens, counts.completion_tokens) if counts else Usage()


def invoker(tool: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    from autogen_core import CancellationToken

    def invoke(arguments: dict[str, Any]) -> Any:
        result = loop.settle(tool.run_json(arguments, CancellationToken()))
        return tool.return_value_as_string(result)

    return invoke
