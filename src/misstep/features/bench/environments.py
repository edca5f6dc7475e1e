"""The interface of a benchmark, the environments in which agents work on its tasks, and those agents."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import msgspec
from msgspec import structs

from misstep.core.agent import Agent, Answer, Assignment, Toolbox
from misstep.core.outcome import Judgement
from misstep.core.results.benchmark import Solution, Task
from misstep.core.results.descriptions import refuse_unknown_tools
from misstep.core.settings import AgentRunSettings, ToolRunSettings
from misstep.core.spending import RateLimiters
from misstep.errors import UsageError
from misstep.runs.setup.agent_session import agent_settings
from misstep.runs.setup.agents import PARADIGMS, check_agent, find_agent, unknown_agent
from misstep.runs.setup.models import Tell
from misstep.runs.setup.workbenches import conditions_of
from misstep.tool_host.host import ToolHost
from misstep.tool_host.sandbox.scratch_dir import ScratchDir, empty, sweep


class Surroundings(msgspec.Struct, frozen=True):
    """The environment of tools: the folder they start in, variables, whether they have network."""

    folder: str = ""
    environment: dict[str, str] = {}
    allow_network: bool = False


class TaskEnv(Protocol):
    """An environment in which an agent works on one task at a time."""

    @property
    def surroundings(self) -> Surroundings: ...

    def lay(self, task: Task) -> None:
        """Set up the start state of the task, whatever was there before."""
        ...

    def judge(self, task: Task, said: str) -> tuple[Judgement, tuple[str, ...]]:
        """Compare the end state and the agent's last message with what is expected; say what differs."""
        ...


class BenchmarkSuite(Protocol):
    """A benchmark: its tasks, and environments for them."""

    @property
    def tasks(self) -> Sequence[Task]: ...

    @property
    def tools(self) -> dict[str, str]:
        """Specs of tools for the tasks by their short names, the default ones first."""
        ...

    def open(self) -> AbstractContextManager[TaskEnv]: ...

    def solve(self, task: Task) -> Solution:
        """A correct solution of the task with the default tools."""
        ...


GONE = "the folder of the task is gone"
BLOCK = 512  # bytes, as the system counts them
MOST_BYTES = 256 << 20
MOST_ENTRIES = 50_000
OVERFULL = f"more than {MOST_BYTES >> 20} MB or {MOST_ENTRIES:,} files were written there, so it was emptied"


class TaskFolder:
    """The folder that tools start in; nothing outside it is touched."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def is_gone(self) -> bool:
        """Whether the folder is missing or replaced by a link, which no sandbox allows."""
        return self.path.is_symlink() or not self.path.is_dir()

    def clear(self) -> None:
        try:
            if self.is_gone:
                self.path.unlink(missing_ok=True)
                self.path.mkdir()
            empty(str(self.path))
        except OSError as error:
            problem = f"the folder for tasks can't be emptied: {error.strerror}"
            raise UsageError(problem, where=error.filename or str(self.path)) from error


@contextmanager
def new_task_folder() -> Iterator[TaskFolder]:
    """It is removed at the end, and so are those left by processes that died."""
    sweep()
    scratch = ScratchDir()
    scratch.claim()
    try:
        folder = TaskFolder(Path(scratch.path, "work"))
        folder.clear()
        yield folder
    finally:
        scratch.leave()


def is_overfull(folder: str) -> bool:
    """Whether a folder, if it exists, holds more than any task could need. Links are not followed."""
    size, entries, waiting = 0, 0, [folder] if folder else []
    while waiting:
        with suppress(OSError):  # already removed, or nested too deep to be read
            for each in os.scandir(waiting.pop()):
                entries += 1
                size += each.stat(follow_symlinks=False).st_blocks * BLOCK
                if each.is_dir(follow_symlinks=False):
                    waiting.append(each.path)
        if size > MOST_BYTES or entries > MOST_ENTRIES:
            return True
    return False


# Solves the task; does nothing; solves it and makes one unrequested change.
Manner: TypeAlias = Literal["right", "idle", "damage"]
MANNERS: tuple[Manner, ...] = ("right", "idle", "damage")


class Simulated:
    """An `Agent` that behaves in one manner. Unless it is idle it has to be given each solution."""

    def __init__(self, manner: Manner, solution: Solution | None = None) -> None:
        self.name = f"sim:{manner}"
        self._manner = manner
        self._solution = solution

    def knowing(self, solve: Callable[[], Solution]) -> "Simulated":
        """The same agent with the solution of a task, if it needs one."""
        return self if self._manner == "idle" else Simulated(self._manner, solve())

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:  # noqa: ARG002
        solution = self._solution
        if solution is None:
            return Answer("Done.")
        for step in solution.steps:
            toolbox.call(step.tool, step.arguments)
        if self._manner == "damage":
            toolbox.call(solution.damage.tool, solution.damage.arguments)
        return Answer(solution.said or "Done.")


SHOWING = 300  # tasks: enough to see which tools each kind of task needs


def find_task_agent(
    settings: AgentRunSettings, tell: Tell = lambda _: None, rate_limiters: RateLimiters | None = None
) -> Agent:
    _refuse_unknown(settings.agent)
    for manner in MANNERS:
        if settings.agent == f"sim:{manner}":
            return Simulated(manner)
    return find_agent(agent_settings(settings), tell, rate_limiters)


def check_task_agent(settings: AgentRunSettings) -> None:
    _refuse_unknown(settings.agent)
    if settings.agent.startswith("sim:"):
        for name in settings.agent_args:
            raise UsageError(f"{settings.agent} has no parameter '{name}'", "it has no parameters")
    elif settings.agent in PARADIGMS:
        find_agent(agent_settings(settings))  # it needs its key from the first task on
    else:
        check_agent(agent_settings(settings))


def _refuse_unknown(name: str) -> None:
    """Refuse agents that a benchmark can't use: simulated planners don't work here."""
    kind, _, own = name.partition(":")
    known = [*(f"sim:{manner}" for manner in MANNERS), *PARADIGMS]
    if name in known or (own and kind != "sim"):
        return
    raise unknown_agent(name, known)


class EnvWithTools(msgspec.Struct, frozen=True):
    """An environment, and the processes in it that run the tools."""

    env: TaskEnv
    hosts: tuple[ToolHost, ...]


class EnvPool:
    """Opens environments as they are needed, and keeps returned ones for reuse."""

    def __init__(self, suite: BenchmarkSuite, specs: Sequence[str], settings: ToolRunSettings) -> None:
        self.suite = suite
        self._specs = specs
        self._settings = settings
        self._idle = list[EnvWithTools]()
        self._open = ExitStack()
        self._lock = threading.Lock()

    def __enter__(self) -> "EnvPool":
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def check_tools(self) -> None:
        """Check that the tools can be loaded before they are used. Raises a `UsageError`."""
        with self.lend() as lent:
            offered = [tool.name for host in lent.hosts for tool in host.tools]
        for name in offered:
            if offered.count(name) > 1:
                hint = "an agent can't tell them apart: omit one"
                raise UsageError(f"there are two tools '{name}'", hint)
        refuse_unknown_tools(conditions_of(self._settings).wordings, offered)
        if self._settings.agent not in ("sim:right", "sim:damage"):
            return
        steps = [step for task in self.suite.tasks[:SHOWING] for step in self.suite.solve(task).steps]
        for step in steps:
            if step.tool not in offered:
                hint = "it calls the benchmark's own tools: omit --tools, or use another agent"
                raise UsageError(f"{self._settings.agent} needs a tool '{step.tool}'", hint)

    @contextmanager
    def lend(self) -> Iterator[EnvWithTools]:
        """Lend an environment; it is not used again if something goes wrong in it."""
        with self._lock:
            lent = self._idle.pop() if self._idle else None
        lent = lent or self._open_one()
        yield lent
        with self._lock:
            self._idle.append(lent)

    def _open_one(self) -> EnvWithTools:
        with ExitStack() as stack:
            env = stack.enter_context(self.suite.open())
            usual, around = conditions_of(self._settings), env.surroundings
            conditions = structs.replace(
                usual,
                folder=around.folder,
                environment={**usual.environment, **around.environment},
                allow_network=usual.allow_network or around.allow_network,
            )
            hosts = [stack.enter_context(ToolHost(spec, conditions)) for spec in self._specs]
            with self._lock:
                self._open.push(stack.pop_all())
            return EnvWithTools(env, tuple(hosts))
