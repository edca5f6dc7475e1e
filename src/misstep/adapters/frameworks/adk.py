"""Runs agents of Google's Agent Development Kit as agents under test, and calls its tools."""

import copy
from collections.abc import Callable
from contextlib import aclosing
from functools import cache
from typing import Any

from misstep.adapters.frameworks import natives
from misstep.adapters.loading.registry import Build
from misstep.adapters.toolset.calling import Loop
from misstep.core.agent import Answer, Assignment, Tool, Toolbox
from misstep.core.outcome import Usage

USER = "user"


def library() -> Any:
    parts = ("adk.agents", "adk.agents.run_config", "adk.apps", "adk.runners", "genai.types")
    return natives.imported("Google ADK", "adk", "google", *parts)


async def run(build: Build, assignment: Assignment, toolbox: Toolbox) -> Answer:
    google = library()
    native = build(natives.tools_for_framework(assignment, toolbox, "adk", _tool_class(), _rerouted))
    app, watcher = google.adk.apps.App, _plugin_class()(toolbox)  # before all other plugins
    if isinstance(native, app):
        watched = native.model_copy(update={"plugins": [watcher, *native.plugins]})
    else:
        watched = app(name="misstep", root_agent=native, plugins=[watcher])
    runner = google.adk.runners.InMemoryRunner(app=watched)
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id=USER)
    events = runner.run_async(
        user_id=USER,
        session_id=session.id,
        new_message=google.genai.types.UserContent(assignment.request),
        run_config=google.adk.agents.run_config.RunConfig(max_llm_calls=toolbox.max_steps + 1),
    )
    text = ""
    async with aclosing(events):
        async for event in events:
            if event.is_final_response() and event.content:
                parts = event.content.parts or ()
                text = "".join(part.text for part in parts if part.text and not part.thought) or text
    return Answer(text)


def retool(value: Any) -> Build:
    """A function that copies an agent, or an app around one, with other tools."""
    adk = library().adk
    root = value.root_agent if isinstance(value, adk.apps.App) else value
    if not isinstance(root, adk.agents.LlmAgent) or root.sub_agents:
        with_others = " with sub-agents" if getattr(root, "sub_agents", ()) else ""
        what = f"a {type(root).__name__}{with_others}"
        raise natives.not_exchangeable(root, "def make_agent(tools): return Agent(…, tools=tools)", what)

    def build(tools: list[Any]) -> Any:
        copy = root.clone({"tools": tools})
        return value.model_copy(update={"root_agent": copy}) if isinstance(value, adk.apps.App) else copy

    return build


def _rerouted(native: Any, described: Tool, toolbox: Toolbox) -> Any:
    """A copy of a tool with the tool's own declaration."""
    if not hasattr(native, "run_async"):
        raise natives.Unroutable("it has no 'run_async'")

    async def run_async(*, args: dict[str, Any], tool_context: Any) -> str:  # noqa: ARG001
        return toolbox.call(described.name, args)

    routed = copy.copy(native)
    routed.run_async = run_async
    routed._get_declaration = native._get_declaration  # derived from the function
    vars(routed).update(natives.stand_ins(native, described, toolbox.call, func=None))
    return routed


def _usage(counts: Any) -> Usage:
    """Tokens of a reply. Some models count thoughts as candidates, others separately."""
    if not counts:
        return Usage()
    given = (counts.prompt_token_count or 0) + (counts.tool_use_prompt_token_count or 0)
    made = max(counts.candidates_token_count or 0, (counts.total_token_count or 0) - given)
    return Usage(given, made, counts.cached_content_token_count or 0)


@cache
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


@cache
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


def invoker(tool: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool in a session that nothing else uses, and returns its result."""
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.sessions import InMemorySessionService, Session
    from google.adk.tools import ToolContext

    session = Session(id="session-1", app_name="misstep", user_id="user-1")
    running = InvocationContext(
        session_service=InMemorySessionService(), invocation_id="invocation-1", session=session
    )

    def invoke(arguments: dict[str, Any]) -> Any:
        return loop.settle(tool.run_async(args=arguments, tool_context=ToolContext(running)))

    return invoke
