"""A pool of environments for tasks, with their tools loaded, and the agents that work in them."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import msgspec
from msgspec import structs

from misstep.benchmarks.simulated import MANNERS, Simulated
from misstep.core.agent import Agent
from misstep.core.results.benchmark import Task
from misstep.core.results.fixing import refuse_unknown_tools
from misstep.core.settings import Settings
from misstep.core.spending import RateLimiters
from misstep.errors import UsageError, did_you_mean
from misstep.features.bench.benchmark import BenchmarkSuite, Surroundings, TaskEnv
from misstep.runs.setup.agent_session import agent_settings
from misstep.runs.setup.agents import PARADIGMS, check_agent, find_agent
from misstep.runs.setup.models import Tell
from misstep.runs.setup.workbenches import conditions_of
from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions

SHOWING = 300  # tasks: enough to see which tools each kind of task needs


def contestant(
    settings: Settings, tell: Tell = lambda _: None, rate_limiters: RateLimiters | None = None
) -> Agent:
    """The agent that the settings name."""
    _refuse_unknown(settings.agent)
    for manner in MANNERS:
        if settings.agent == f"sim:{manner}":
            return Simulated(manner)
    return find_agent(agent_settings(settings), tell, rate_limiters)


def informed(agent: Agent, task: Task, suite: BenchmarkSuite) -> Agent:
    """The agent for a task: simulated agents are told the solution."""
    return agent.knowing(lambda: suite.solve(task)) if isinstance(agent, Simulated) else agent


def check_contestant(settings: Settings) -> None:
    """Refuse an agent that can't be found or started."""
    _refuse_unknown(settings.agent)
    if settings.agent.startswith("sim:"):
        for name in settings.agent_args:
            raise UsageError(f"{settings.agent} has no parameter '{name}'", "it takes no parameters")
    elif settings.agent in PARADIGMS:
        find_agent(agent_settings(settings))  # it needs its key from the first task on
    else:
        check_agent(agent_settings(settings))


def tools_needed(settings: Settings, suite: BenchmarkSuite) -> list[str]:
    """The tools that a simulated agent needs, going by the first tasks."""
    if settings.agent not in ("sim:right", "sim:damage"):
        return []
    steps = [step for task in suite.tasks[:SHOWING] for step in suite.solve(task).steps]
    return list(dict.fromkeys(step.tool for step in steps))


def _refuse_unknown(name: str) -> None:
    """Refuse agents that a benchmark can't use: simulated planners don't work here."""
    kind, _, own = name.partition(":")
    known = [*(f"sim:{manner}" for manner in MANNERS), *PARADIGMS]
    if name in known or (own and kind != "sim"):
        return
    listed = [f"known on benchmarks: {', '.join(known)}"]
    listed.append("or your own: file.py:name, package.module:name, mcp:COMMAND")
    if not name:
        raise UsageError("no agent was named", "give one with --agent", *listed)
    raise UsageError(f"unknown agent '{name}'", did_you_mean(name, known), *listed)


class Stand(msgspec.Struct, frozen=True):
    """An environment, and the processes in it that run the tools."""

    arena: TaskEnv
    benches: tuple[ToolHost, ...]


class EnvPool:
    """Opens environments as they are needed, and keeps returned ones for reuse."""

    def __init__(self, suite: BenchmarkSuite, specs: Sequence[str], settings: Settings) -> None:
        self.suite = suite
        self._specs = specs
        self._settings = settings
        self._idle = list[Stand]()
        self._open = ExitStack()
        self._lock = threading.Lock()

    def __enter__(self) -> "EnvPool":
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def look(self) -> None:
        """Check that the tools can be loaded before they are used. Raises a `UsageError`."""
        with self.lend() as stand:
            refuse_namesakes(stand.benches)
            offered = [tool.name for bench in stand.benches for tool in bench.tools]
            refuse_unknown_tools(conditions_of(self._settings).wordings, offered)
            needed = tools_needed(self._settings, self.suite)
            missing = [name for name in needed if name not in offered]
            if missing:
                hint = (
                    "it makes calls of the benchmark's usual tools: leave out --tools, or name another agent"
                )
                raise UsageError(f"{self._settings.agent} needs a tool '{missing[0]}'", hint)

    @contextmanager
    def lend(self) -> Iterator[Stand]:
        """Lend an environment; it is not used again if something goes wrong in it."""
        with self._lock:
            stand = self._idle.pop() if self._idle else None
        stand = stand or self._opened()
        yield stand
        with self._lock:
            self._idle.append(stand)

    def _opened(self) -> Stand:
        with ExitStack() as stack:
            arena = stack.enter_context(self.suite.open())
            conditions = _conditions(self._settings, arena.surroundings)
            benches = [stack.enter_context(ToolHost(spec, conditions)) for spec in self._specs]
            with self._lock:
                self._open.push(stack.pop_all())
            return Stand(arena, tuple(benches))


def refuse_namesakes(benches: Sequence[ToolHost]) -> None:
    names = [tool.name for bench in benches for tool in bench.tools]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"there are two tools '{name}'", "an agent could not tell them apart: leave one out"
            )


def _conditions(settings: Settings, around: Surroundings) -> CallConditions:
    usual = conditions_of(settings)
    return structs.replace(
        usual,
        folder=around.folder,
        environment={**usual.environment, **around.environment},
        allow_network=usual.allow_network or around.allow_network,
    )
