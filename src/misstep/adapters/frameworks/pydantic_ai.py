"""Runs agents of Pydantic AI as agents under test, and calls its tools."""

import copy
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from misstep.adapters.arguments import read_arguments
from misstep.adapters.frameworks import natives
from misstep.adapters.loading.registry import Build
from misstep.adapters.toolset.calling import Loop, context_of
from misstep.core.agent import Answer, Assignment, Tool, Toolbox
from misstep.core.outcome import Usage
from misstep.errors import UsageError

FACTORY = "def make_agent(tools): return Agent(model, tools=tools)"


def library() -> Any:
    return natives.imported("Pydantic AI", "pydantic-ai", "pydantic_ai", "agent")


async def run(build: Build, assignment: Assignment, toolbox: Toolbox) -> Answer:
    native = build(natives.tools_for_framework(assignment, toolbox, "pydantic-ai", _mock_tool, _rerouted))
    if not isinstance(native, _Retooled | library().agent.AbstractAgent):
        raise UsageError(f"a {type(native).__name__} is not a Pydantic AI agent", f"expected: {FACTORY}")
    limits = library().UsageLimits(request_limit=toolbox.max_steps)
    follower = _Follower(toolbox)
    try:
        async with native.iter(assignment.request, usage_limits=limits) as going:
            async for node in going:
                follower.enter(node, going)
    except library().UsageLimitExceeded:
        return Answer(ended="iterations")
    except library().UnexpectedModelBehavior:
        if not follower.has_reply:
            raise
        return Answer()
    return Answer(str(going.result.output))


def retool(value: Any) -> Build:
    """A function that gives an agent other tools for one run at a time."""
    if not isinstance(value, library().agent.AbstractAgent):
        raise natives.not_exchangeable(value, FACTORY)
    return lambda tools: _Retooled(value, tools)


class _Retooled:
    """An agent with other tools while it runs; concurrent runs don't see them."""

    def __init__(self, native: Any, tools: list[Any]) -> None:
        self._native = native
        self._tools = tools

    @asynccontextmanager
    async def iter(self, request: str, **options: Any) -> AsyncIterator[Any]:
        # Native tools are those that the model's provider would run.
        with self._native.override(tools=self._tools, toolsets=[], native_tools=[]):
            async with self._native.iter(request, **options) as run:
                yield run


class _Follower:
    """Tells the toolbox what each node of a run says about the model, before the node runs."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._mocks = {described.name for described in toolbox.tools}
        self._turn = 0
        self._spent = (0, 0, 0)
        self.has_reply = False  # the model has replied, so later errors are caused by its reply

    def enter(self, node: Any, run: Any) -> None:
        native = library().Agent
        self.has_reply = native.is_call_tools_node(node)
        if native.is_model_request_node(node):
            self._note(node.request)
            self._turn = self._toolbox.begin_turn()
        elif self.has_reply:
            self._note(node.model_response)
            # Tokens used since last time, which may include replies that no node shows.
            counts = (run.usage.input_tokens, run.usage.output_tokens, run.usage.cache_read_tokens)
            new = [now - before for now, before in zip(counts, self._spent, strict=True)]
            self._toolbox.spend(Usage(*new))
            self._spent = counts
            for call in node.model_response.tool_calls:
                # Not those of the agent's own tools, such as those that give its answer.
                known = run.ctx.deps.tool_manager.get_tool_def(call.tool_name) is not None
                if call.tool_name in self._mocks or not known:
                    self._toolbox.ask(call.tool_name, read_arguments(call.args), self._turn)

    def _note(self, message: Any) -> None:
        from pydantic_ai.messages import ModelMessagesTypeAdapter

        self._toolbox.note(ModelMessagesTypeAdapter.dump_python([message], mode="json")[0])


def _mock_tool(described: Tool, toolbox: Toolbox) -> Any:
    from pydantic_core import SchemaValidator, core_schema

    async def carry_out(**arguments: Any) -> str:
        return toolbox.call(described.name, arguments)

    schema = copy.deepcopy(described.parameters)
    tool = library().Tool.from_schema(
        carry_out, name=described.name, description=described.description, json_schema=schema
    )
    tool.strict = False  # otherwise the schema is rewritten
    # The default validator accepts anything; function tools reject arguments that are not an object.
    tool.function_schema.validator = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))
    return tool


def _rerouted(native: Any, described: Tool, toolbox: Toolbox) -> Any:
    """A copy of a tool that validates and converts arguments as the tool does."""
    from pydantic_core import to_jsonable_python

    if not isinstance(native, library().Tool):
        raise natives.Unroutable(f"a {type(native).__name__} has no function to call")

    async def call(arguments: dict[str, Any], _context: Any) -> str:
        return toolbox.call(described.name, to_jsonable_python(arguments, serialize_unknown=True))

    routed = copy.copy(native)
    routed.function_schema = copy.copy(native.function_schema)
    routed.function_schema.call = call
    is_async = native.function_schema.is_async
    for holder in (routed, routed.function_schema):
        holder.function = natives.stand_in(native.function, described, toolbox.call, is_async)
    return routed


def invoker(tool: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool's own validator, then its function, and returns the result."""
    from pydantic_ai import RunContext
    from pydantic_ai._utils import disable_threads  # threads are not observed
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.usage import RunUsage

    schema = getattr(tool, "function_schema", None)
    if schema is None:
        raise UsageError(f"'{tool.name}' has no function to call")
    deps = context_of(schema.function, (RunContext,), tool.name)
    context: Any = RunContext(deps=deps, model=TestModel(), usage=RunUsage(), tool_name=tool.name)

    def invoke(arguments: dict[str, Any]) -> Any:
        with disable_threads():
            return loop.settle(schema.call(schema.validator.validate_python(arguments), context))

    return invoke
