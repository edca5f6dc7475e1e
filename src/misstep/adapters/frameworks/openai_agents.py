"""Runs agents of the OpenAI Agents SDK as agents under test, and calls its tools."""

import copy
import json
from collections.abc import Callable, Sequence
from functools import cache
from types import new_class
from typing import Any

from misstep.adapters.arguments import read_arguments
from misstep.adapters.frameworks import natives
from misstep.adapters.loading.registry import Build
from misstep.adapters.toolset.call_interceptor import slot_of
from misstep.adapters.toolset.calling import Loop, context_of
from misstep.core.agent import Answer, Assignment, Tool, Toolbox
from misstep.core.outcome import Usage
from misstep.errors import UsageError

FACTORY = "def make_agent(tools): return Agent(name='me', model=model, tools=tools)"
FACTORY_OF_TWO = "def make_agent(tools): return Agent(name='me', handoffs=[Agent(name='you', tools=tools)])"


def library() -> Any:
    return natives.imported("The OpenAI Agents SDK", "openai-agents", "agents", "exceptions")


async def run(build: Build, assignment: Assignment, toolbox: Toolbox) -> Answer:
    sdk = library()
    native = build(natives.tools_for_framework(assignment, toolbox, "openai-agents", _mock_tool, _rerouted))
    if not isinstance(native, sdk.Agent):
        message = f"a {type(native).__name__} is not an Agent of the OpenAI Agents SDK"
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
    except (
        # An invalid reply of the model, or a guardrail that stops the agent.
        sdk.ModelBehaviorError,
        sdk.exceptions.ModelRefusalError,
        sdk.InputGuardrailTripwireTriggered,
        sdk.OutputGuardrailTripwireTriggered,
    ) as error:
        return Answer(getattr(error, "refusal", ""))
    return Answer(str(result.final_output))


def retool(value: Any) -> Build:
    """A function that clones an agent with other tools; those of its MCP servers are removed as well."""
    if not isinstance(value, library().Agent):
        raise natives.not_exchangeable(value, FACTORY)
    if value.handoffs:  # only the user knows which agent should get which tools
        message = f"the agent '{value.name}' hands off to other agents, which have their own tools"
        raise UsageError(message, f"write a function that creates it: {FACTORY_OF_TWO}")
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
        counts = response.usage
        cached = getattr(counts.input_tokens_details, "cached_tokens", 0) or 0
        self._toolbox.spend(Usage(counts.input_tokens, counts.output_tokens, cached))
        for item in response.output:
            self._toolbox.note(item.model_dump(exclude_none=True))
            self._noted += 1
            if item.type == "function_call" and not await self._is_private(item.name, agent, context):
                self._toolbox.ask(item.name, read_arguments(item.arguments), self._turn)

    async def _is_private(self, name: str, agent: Any, context: Any) -> bool:
        """Whether the agent has something of that name besides our tools: a handoff or a tool of its own."""
        if name in self._mocks:
            return False
        handoff = library().Handoff
        own = [tool.name for tool in await agent.get_all_tools(context)]
        own += [  # a handoff may be given as the agent itself
            to.tool_name if isinstance(to, handoff) else handoff.default_tool_name(to)
            for to in agent.handoffs
        ]
        return name in own


@cache
def _hooks() -> Any:
    return new_class("Listener", (_Listener, library().RunHooks))


def _mock_tool(described: Tool, toolbox: Toolbox) -> Any:
    async def carry_out(_context: Any, arguments: str) -> str:
        return toolbox.call(described.name, read_arguments(arguments))

    return library().FunctionTool(
        name=described.name,
        description=described.description,
        params_json_schema=copy.deepcopy(described.parameters),
        on_invoke_tool=carry_out,
        strict_json_schema=False,  # would rewrite the schema
    )


def _rerouted(native: Any, described: Tool, toolbox: Toolbox) -> Any:
    """A copy of a tool; arguments are validated and results written wherever it is executed."""
    if getattr(native, "_is_agent_tool", False):
        raise natives.Unroutable("it is an agent")
    routed = copy.copy(native)
    routed.on_invoke_tool = _mock_tool(described, toolbox).on_invoke_tool
    routed._output_type_adapter = None
    return routed


def invoker(tool: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool and returns its result; exceptions are not converted."""
    from agents import RunContextWrapper
    from agents.tool import set_function_tool_failure_error_function
    from agents.tool_context import ToolContext

    set_function_tool_failure_error_function(tool, None)
    slot = slot_of("openai-agents", tool)
    given = context_of(slot.function, (RunContextWrapper, ToolContext), tool.name) if slot else None

    def invoke(arguments: dict[str, Any]) -> Any:
        text = json.dumps(arguments)
        context = ToolContext(given, tool_name=tool.name, tool_call_id="call-1", tool_arguments=text)
        return loop.settle(tool.on_invoke_tool(context, text))

    return invoke
