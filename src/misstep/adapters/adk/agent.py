"""Runs agents of Google's Agent Development Kit as agents under test."""

import copy
import inspect
from contextlib import aclosing
from functools import cache
from typing import Any

import msgspec

from misstep.adapters.loading.registry import Build
from misstep.adapters.natives import Unroutable, stand_in, tools_for_framework
from misstep.core.agent import Answer, Assignment, Tool, Toolbox
from misstep.core.outcome import Usage
from misstep.errors import MissingExtra, UsageError

USER = "user"


class AdkAgent:
    """Builds an agent or app for every case and records what its models say."""

    def __init__(self, build: Build, name: str) -> None:
        self.name = name
        self._build = build

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        adk = _adk()
        tools = tools_for_framework(assignment, toolbox, "adk", adk.AdkTool, _rerouted)
        native = self._build(tools)
        runner = adk.InMemoryRunner(app=_watched(native, adk.AdkWatcher(toolbox)))
        session = await runner.session_service.create_session(app_name=runner.app_name, user_id=USER)
        events = runner.run_async(
            user_id=USER,
            session_id=session.id,
            new_message=adk.types.UserContent(assignment.request),
            run_config=adk.RunConfig(max_llm_calls=toolbox.max_steps + 1),
        )
        text = ""
        async with aclosing(events):
            async for event in events:
                text = _final_text(event) or text
        return Answer(text)


def agent(build: Build, name: str) -> AdkAgent:
    """An agent that calls `build` with the tools of each case, as `BaseTool`s, and runs the result."""
    _adk()
    return AdkAgent(build, name)


def retool(value: Any) -> Build:
    """A function that copies an agent, or an app around one, with other tools."""
    adk = _adk()
    root = value.root_agent if isinstance(value, adk.App) else value
    if not isinstance(root, adk.LlmAgent) or root.sub_agents:
        raise UsageError(
            f"the tools of {_described(root)} can't be exchanged",
            "write a function that makes it: def make_agent(tools): return Agent(…, tools=tools)",
        )

    def build(tools: list[Any]) -> Any:
        copy = root.clone({"tools": tools})
        return value.model_copy(update={"root_agent": copy}) if isinstance(value, adk.App) else copy

    return build


def _rerouted(native: Any, described: Tool, toolbox: Toolbox) -> Any:
    """A copy of a tool with the tool's own declaration."""
    if not hasattr(native, "run_async"):
        raise Unroutable("it has no 'run_async'")

    async def run_async(*, args: dict[str, Any], tool_context: Any) -> str:  # noqa: ARG001
        return toolbox.call(described.name, args)

    routed = copy.copy(native)
    routed.run_async = run_async
    routed._get_declaration = native._get_declaration  # derived from the function
    if callable(function := getattr(native, "func", None)):
        routed.func = stand_in(function, described, toolbox.call, inspect.iscoroutinefunction(function))
    return routed


def _described(root: Any) -> str:
    return f"a {type(root).__name__}{' with sub-agents' if getattr(root, 'sub_agents', ()) else ''}"


def _watched(native: Any, watch: Any) -> Any:
    """An app around the agent, or a copy of the built app, with our plugin before all others."""
    adk = _adk()
    if isinstance(native, adk.App):
        return native.model_copy(update={"plugins": [watch, *native.plugins]})
    return adk.App(name="misstep", root_agent=native, plugins=[watch])


def _final_text(event: Any) -> str:
    if not event.is_final_response() or not event.content:
        return ""
    return "".join(part.text for part in event.content.parts or () if part.text and not part.thought)


def _usage(counts: Any) -> Usage:
    """Tokens of a reply. Some models count thoughts as candidates, others separately."""
    if not counts:
        return Usage()
    given = (counts.prompt_token_count or 0) + (counts.tool_use_prompt_token_count or 0)
    made = max(counts.candidates_token_count or 0, (counts.total_token_count or 0) - given)
    return Usage(given, made, counts.cached_content_token_count or 0)


class _Adk(msgspec.Struct, frozen=True):
    """The parts of the framework that we use, and our own classes derived from it."""

    App: Any
    InMemoryRunner: Any
    LlmAgent: Any
    RunConfig: Any
    types: Any
    AdkTool: Any
    AdkWatcher: Any


@cache
def _adk() -> _Adk:
    try:
        from google.adk.agents import LlmAgent
        from google.adk.agents.run_config import RunConfig
        from google.adk.apps import App
        from google.adk.runners import InMemoryRunner
        from google.genai import types
    except ImportError as error:
        raise MissingExtra("Google ADK", "adk") from error
    return _Adk(App, InMemoryRunner, LlmAgent, RunConfig, types, _tool_class(), _plugin_class())


def _tool_class() -> Any:
    from google.adk.tools.base_tool import BaseTool
    from google.genai import types

    class AdkTool(BaseTool):
        def __init__(self, described: Tool, toolbox: Toolbox) -> None:
            super().__init__(name=described.name, description=described.description)
            self._parameters = described.parameters
            self._toolbox = toolbox

        def _get_declaration(self) -> Any:
            return types.FunctionDeclaration(
                name=self.name,
                description=self.description,
                parameters_json_schema=copy.deepcopy(self._parameters),
            )

        async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> str:  # noqa: ARG002
            return self._toolbox.call(self.name, args)

    return AdkTool


def _plugin_class() -> Any:
    from google.adk.plugins import BasePlugin

    class AdkWatcher(BasePlugin):
        """Tells the toolbox about every model request and reply."""

        def __init__(self, toolbox: Toolbox) -> None:
            super().__init__("misstep")
            self._toolbox = toolbox
            self._turns = dict[str, int]()  # of each agent, since several may run concurrently

        async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:  # noqa: ARG002
            self._turns[callback_context.agent_name] = self._toolbox.begin_turn()

        async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
            if llm_response.partial:
                return
            self._toolbox.spend(_usage(llm_response.usage_metadata))
            self._toolbox.note(llm_response.model_dump(mode="json", exclude_none=True))
            if llm_response.error_code:
                self._toolbox.misread()
            for part in (llm_response.content and llm_response.content.parts) or ():
                if call := part.function_call:
                    turn = self._turns[callback_context.agent_name]
                    self._toolbox.ask(call.name, call.args or {}, turn)

    return AdkWatcher
