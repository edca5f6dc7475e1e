"""Runs agents of the OpenAI Agents SDK as agents under test."""

import copy
from collections.abc import Sequence
from functools import cache
from types import new_class
from typing import Any

from misstep.adapters.arguments import read_arguments
from misstep.adapters.loading.registry import Build
from misstep.adapters.natives import Unroutable, tools_for_framework
from misstep.core.agent import Answer, Assignment, Tool, Toolbox
from misstep.core.outcome import Usage
from misstep.errors import MissingExtra, UsageError

FACTORY = "def make_agent(tools): return Agent(name='me', model=model, tools=tools)"
FACTORY_OF_TWO = "def make_agent(tools): return Agent(name='me', handoffs=[Agent(name='you', tools=tools)])"


class OpenAIAgent:
    """Builds an agent for every case and listens to its run, without tracing."""

    def __init__(self, build: Build, name: str) -> None:
        self.name = name
        self._build = build

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        sdk = _sdk()
        native = self._build(tools_for_framework(assignment, toolbox, "openai-agents", _mock_tool, _rerouted))
        if not isinstance(native, sdk.Agent):
            message = f"a {type(native).__name__} is no Agent of the OpenAI Agents SDK"
            raise UsageError(message, f"expected: {FACTORY}")
        try:
            result = await sdk.Runner.run(
                native,
                assignment.request,
                max_turns=toolbox.max_steps,
                hooks=_hooks()(toolbox),
                run_config=sdk.RunConfig(tracing_disabled=True),
            )
        except sdk.MaxTurnsExceeded:
            return Answer(ended="iterations")
        except _ends_on_its_own() as error:
            return Answer(getattr(error, "refusal", ""))
        return Answer(str(result.final_output))


def agent(build: Build, name: str) -> OpenAIAgent:
    """An agent that calls `build` with the tools of each case, as `FunctionTool`s, and runs the result."""
    _sdk()
    return OpenAIAgent(build, name)


def retool(value: Any) -> Build:
    """A function that clones an agent with other tools; those of its MCP servers are removed as well.

    An agent with handoffs is refused: the other agents have their own tools, and only the user knows which
    agent should get which tools.
    """
    advice = "write a function that makes it:"
    if not isinstance(value, _sdk().Agent):
        raise UsageError(f"the tools of a {type(value).__name__} can't be exchanged", f"{advice} {FACTORY}")
    if value.handoffs:
        message = f"the agent '{value.name}' hands over to others, which have tools of their own"
        raise UsageError(message, f"{advice} {FACTORY_OF_TWO}")
    return lambda tools: value.clone(tools=tools, mcp_servers=[])


class _Listener:
    """Tells the toolbox what the model does; combined with the SDK's `RunHooks`."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._mocks = {described.name for described in toolbox.tools}
        self._turn = 0
        self._noted = 0

    async def on_llm_start(
        self, _context: Any, _agent: Any, system: str | None, items: Sequence[Any]
    ) -> None:
        self._turn = self._toolbox.begin_turn()
        if system and self._turn == 1:
            self._toolbox.note({"role": "system", "content": system})
        for item in items[self._noted :]:
            self._toolbox.note(item)
        self._noted = len(items)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        self._toolbox.spend(_usage(response.usage))
        for item in response.output:
            self._toolbox.note(item.model_dump(exclude_none=True))
            self._noted += 1
            if item.type == "function_call" and not await self._is_private(item.name, agent, context):
                self._toolbox.ask(item.name, read_arguments(item.arguments), self._turn)

    async def _is_private(self, name: str, agent: Any, context: Any) -> bool:
        """Whether the agent has something of that name besides our tools: a handoff or a tool of its own."""
        if name in self._mocks:
            return False
        own = [tool.name for tool in await agent.get_all_tools(context)]
        return name in own or name in [_name_of_handoff(each) for each in agent.handoffs]


def _name_of_handoff(to: Any) -> str:
    """The tool name of a handoff, which may be given as the agent itself."""
    handoff = _sdk().Handoff
    return str(to.tool_name if isinstance(to, handoff) else handoff.default_tool_name(to))


@cache
def _hooks() -> Any:
    return new_class("Listener", (_Listener, _sdk().RunHooks))


@cache
def _ends_on_its_own() -> tuple[type[Exception], ...]:
    """Exceptions of the SDK for an invalid reply of the model, or for a guardrail that stops the agent."""
    sdk = _sdk()
    from agents.exceptions import ModelRefusalError

    return (
        sdk.ModelBehaviorError,
        ModelRefusalError,
        sdk.InputGuardrailTripwireTriggered,
        sdk.OutputGuardrailTripwireTriggered,
    )


def _mock_tool(described: Tool, toolbox: Toolbox) -> Any:
    async def carry_out(_context: Any, arguments: str) -> str:
        return toolbox.call(described.name, read_arguments(arguments))

    return _sdk().FunctionTool(
        name=described.name,
        description=described.description,
        params_json_schema=copy.deepcopy(described.parameters),
        on_invoke_tool=carry_out,
        strict_json_schema=False,  # would rewrite the schema
    )


def _rerouted(native: Any, described: Tool, toolbox: Toolbox) -> Any:
    """A copy of a tool; arguments are validated and results written wherever it is executed."""
    if getattr(native, "_is_agent_tool", False):
        raise Unroutable("it is an agent")
    routed = copy.copy(native)
    routed.on_invoke_tool = _mock_tool(described, toolbox).on_invoke_tool
    routed._output_type_adapter = None
    return routed


def _usage(counts: Any) -> Usage:
    details = counts.input_tokens_details
    return Usage(counts.input_tokens, counts.output_tokens, getattr(details, "cached_tokens", 0) or 0)


def _sdk() -> Any:
    try:
        import agents
    except ImportError as error:
        raise MissingExtra("The OpenAI Agents SDK", "openai-agents") from error
    return agents
