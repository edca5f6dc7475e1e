"""Runs agents and crews of CrewAI as agents under test, and calls its tools."""

from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from functools import cache
from typing import Any

from misstep.adapters.arguments import merge_references, open_model, read_arguments
from misstep.adapters.frameworks import natives
from misstep.adapters.loading.registry import Build
from misstep.adapters.threads import in_thread
from misstep.adapters.toolset.calling import Loop
from misstep.core.agent import Answer, Assignment, StepsExhausted, Tool, Toolbox
from misstep.core.outcome import Usage
from misstep.errors import UsageError

PLACE = "{request}"
FACTORY = "def make_agent(tools): return Agent(role=…, goal=…, backstory=…, llm=…, tools=tools)"
CREW_HINT = f"put {PLACE} into a task description, where the request belongs"


def library(module: str = "hooks.dispatch") -> Any:
    return natives.imported("CrewAI", "crewai", f"crewai.{module}", hint=natives.ELSEWHERE)


async def run(build: Build, assignment: Assignment, toolbox: Toolbox) -> Answer:
    """Run an `Agent`, or a `Crew` with a placeholder for the request in a task's description."""
    return await in_thread(lambda: _kick_off(build, assignment, _Watch(toolbox)))


def retool(value: Any) -> Build:
    """A function that copies an agent, or a crew in which only one agent has tools, with other tools."""
    if isinstance(value, library("agent").Agent):
        return lambda tools: _with_tools(value.copy(), tools)
    if not isinstance(value, library("crew").Crew):
        raise natives.not_exchangeable(value, FACTORY)
    _check_place(value)
    holders = [at for at, member in enumerate(value.agents) if member.tools] or [*range(len(value.agents))]
    if len(holders) != 1:
        raise natives.unclear_holder(len(holders), FACTORY)

    def build(tools: list[Any]) -> Any:
        crew = value.copy()
        holder = _with_tools(crew.agents[holders[0]], tools)
        for task in crew.tasks:
            task.tools = list(tools) if task.agent is holder else []
        return crew

    return build


def _with_tools(native: Any, tools: list[Any]) -> Any:
    native.tools = list(tools)
    return native


def _check_place(crew: Any) -> None:
    if not any(PLACE in task.description for task in crew.tasks):
        raise UsageError(f"no task description of the crew contains {PLACE}", CREW_HINT)


def _kick_off(build: Build, assignment: Assignment, watch: "_Watch") -> Answer:
    """Run one case, in a separate thread and context."""
    tools = natives.tools_for_framework(
        assignment,
        watch.toolbox,
        "crewai",
        lambda described, _: _mock_tool(described, watch),
        lambda native, described, _: _rerouted(native, described, watch),
    )
    native = build(tools)
    _hear_replies()
    _watch_here.set(watch)
    dispatch = library("hooks.dispatch")
    hooks = {dispatch.InterceptionPoint.PRE_MODEL_CALL: [watch.begin_turn]}
    try:
        with dispatch.scoped_hooks(hooks):
            output = _started(native, assignment.request, watch.toolbox.max_steps)
    except Exception as error:
        if watch.exhausted or _goes_round_in_circles(error):
            raise StepsExhausted from error
        raise
    finally:
        watch.catch_up()
    return Answer(str(output.raw))


def _started(native: Any, request: str, max_steps: int) -> Any:
    if isinstance(native, library("agent").Agent):
        _raise_limit(native, max_steps)
        return native.kickoff(request)
    if isinstance(native, library("crew").Crew):
        _check_place(native)
        for member in native.agents:
            _raise_limit(member, max_steps)
        return native.kickoff(inputs={PLACE.strip("{}"): request})
    raise UsageError(f"a {type(native).__name__} is neither a CrewAI agent nor a crew", FACTORY)


def _raise_limit(native: Any, max_steps: int) -> None:
    """Raise CrewAI's default limit above ours, because past it CrewAI silently makes up an answer."""
    if native.max_iter == type(native).model_fields["max_iter"].default:
        native.max_iter = max_steps + 1


def _goes_round_in_circles(error: Exception) -> bool:
    """Whether CrewAI stopped the agent because it repeats the same call."""
    failures = library("tools.tool_failure")
    return (
        isinstance(error, failures.ToolExecutionFailedError)
        and error.record.failure.reason == failures.ToolFailureReason.REPEATED_CALL
    )


class _Watch:
    """Records one case: turns through a hook, which can stop the agent; replies through delayed events."""

    def __init__(self, toolbox: Toolbox) -> None:
        self.toolbox = toolbox
        self.exhausted = False
        self._names = {_spoken(tool.name): tool.name for tool in toolbox.tools}
        self._own_tools = set[str]()
        self._reads_text = False

    def catch_up(self) -> None:
        """Wait until all replies so far are recorded."""
        library("events").crewai_event_bus.flush()

    def call(self, name: str, arguments: Any) -> str:
        self.catch_up()
        return self.toolbox.call(name, arguments)

    def begin_turn(self, context: Any) -> None:
        self.catch_up()
        try:
            self.toolbox.begin_turn()
        except StepsExhausted:
            self.exhausted = True
            raise library("hooks.dispatch").HookAborted("no turns are left") from None
        if isinstance(context.executor, library("agents.agent_executor").AgentExecutor):
            self._reads_text = not context.executor.state.use_native_tools
            self._own_tools = {_spoken(tool.name) for tool in context.executor.tools} - set(self._names)

    def hear(self, event: Any) -> None:
        if event.usage:
            self.toolbox.spend(_usage(event.usage))
        for name, arguments in self._asked_for(event.response):
            # The crew's own tools, such as those for delegation, are ignored.
            if _spoken(name) not in self._own_tools:
                self.toolbox.ask(self._names.get(_spoken(name), name), read_arguments(arguments))

    def _asked_for(self, response: Any) -> list[tuple[str, Any]]:
        """The calls of a reply, as the model wrote them."""
        if isinstance(response, list):
            return [_name_and_arguments(call) for call in response]
        if not self._reads_text or not isinstance(response, str):
            return []
        written = library("agents.constants").ACTION_INPUT_REGEX.search(response)
        answers = library("agents.constants").FINAL_ANSWER_ACTION in response
        return [(written[1].strip(" *\n"), written[2].strip())] if written and not answers else []


_watch_here: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@cache
def _hear_replies() -> None:
    """Listen to every model in this process; the context tells which case a reply belongs to."""
    events = library("events")

    def hear(_source: Any, event: Any) -> None:
        watch = _watch_here.get()
        if watch:
            watch.hear(event)

    events.crewai_event_bus.on(events.LLMCallCompletedEvent)(hear)


def _mock_tool(described: Tool, watch: _Watch) -> Any:
    tools = library("tools")

    class CrewaiTool(tools.BaseTool):  # type: ignore[name-defined]
        def _run(self, /, **arguments: Any) -> str:
            return watch.call(described.name, arguments)

    return CrewaiTool(
        name=described.name,
        description=described.description,
        args_schema=open_model(merge_references(described.parameters)),
        cache_function=_never,
    )


def _never(*_: Any) -> bool:
    """Never cache results: a call answered from a cache would not reach us."""
    return False


def _rerouted(native: Any, described: Tool, watch: _Watch) -> Any:
    """A copy of a tool that validates arguments as the tool does; results are texts already."""
    natives.check_unchanged(native, "crewai", "run", "arun")
    routed = native.model_copy()
    own = natives.stand_ins(native, described, watch.call, _run=False, _arun=True, func=False)
    for name, part in {"cache_function": _never, "result_schema": None, **own}.items():
        object.__setattr__(routed, name, part)
    return routed


def _spoken(name: str) -> str:
    """The name as CrewAI shows it to the model."""
    spoken: str = library("utilities.string_utils").sanitize_tool_name(name)
    return spoken


def _name_and_arguments(call: Any) -> tuple[str, Any]:
    """Read a call in the formats of different providers."""
    function = call.get("function") or call
    arguments = function.get("arguments", function.get("input", {}))
    return str(function.get("name", "")), arguments


def _usage(told: Any) -> Usage:
    metrics = library("types.usage_metrics").UsageMetrics.from_provider_dict(told)
    if metrics is None:
        return Usage()
    return Usage(metrics.prompt_tokens, metrics.completion_tokens, metrics.cached_prompt_tokens)


def invoker(tool: Any, _is_async: bool, loop: Loop) -> Callable[[dict[str, Any]], Any]:
    """A function that calls the tool, without its limit on how often, and returns its result."""
    with suppress(Exception):
        tool.max_usage_count = None

    def invoke(arguments: dict[str, Any]) -> Any:
        return loop.settle(tool.run(**arguments))

    return invoke
