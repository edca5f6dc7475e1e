"""Runs an agent on the tasks of a benchmark and judges the results."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import structs

from misstep.core.agent import Agent
from misstep.core.outcome import Judgement
from misstep.core.results.benchmark import Task, TaskReport
from misstep.core.results.trial import Trial
from misstep.core.settings import Settings
from misstep.core.tool import Probe, Reaction
from misstep.errors import UsageError
from misstep.features.bench.benchmark import OVERFULL, Room, TaskEnv, is_overfull
from misstep.features.bench.env_pool import EnvPool, Stand, informed
from misstep.runs.budget import RunBudget
from misstep.runs.execution import at_work
from misstep.runs.setup.agent_session import Over, UsageMeter, refuse_unreachable, unless
from misstep.runs.setup.roles import Outage
from misstep.runs.setup.trying import Trier
from misstep.tool_host.host import ToolHost
from misstep.tool_host.live import JoinedBench

SOON = 0.2  # seconds until the folder is checked during a call; most calls are over by then


class Attempts:
    """Runs agents on the tasks that are `left`; several threads may call it at a time.

    Each task is taken when its turn comes, so that it need not be made before. `lost` are specs whose tools
    can't be loaded any more, and why; then all stop.
    """

    def __init__(
        self,
        stands: EnvPool,
        settings: Settings,
        run_budget: RunBudget,
        find: Callable[[], Agent],
        left: Iterable[tuple[int, Task]],
    ) -> None:
        self._stands = stands
        self._settings = settings
        self._run_budget = run_budget
        self._find = find
        self._left = iter(left)
        self._taking = threading.Lock()
        self._outage = Outage()
        self.lost = dict[str, str]()

    def work(self, tell: Callable[[TaskReport], None]) -> None:
        """Run tasks in an environment of this thread's own until none is left."""
        with self._stands.lend() as stand:
            asyncio.run(self._work(stand, tell))

    async def _work(self, stand: Stand, tell: Callable[[TaskReport], None]) -> None:
        agent = self._find()
        async with at_work(agent):
            while not self._is_over() and (taken := self._take()):
                place, task = taken
                attempt = _Attempt(task, stand, self._settings, UsageMeter(self._run_budget), self._outage)
                whoever = informed(agent, task, self._stands.suite)
                try:
                    tell(structs.replace(await attempt.made_by(whoever, self._is_over), place=place))
                except Over:
                    return
                except UsageError as error:
                    self.lost[error.where] = error.message
                    return

    def _take(self) -> tuple[int, Task] | None:
        with self._taking:
            return next(self._left, None)

    def _is_over(self) -> bool:
        return self._run_budget.is_over() or bool(self._run_budget.lacking or self.lost)


class _Attempt:
    """One task, from setting up its environment to the verdict."""

    def __init__(
        self, task: Task, stand: Stand, settings: Settings, usage_meter: UsageMeter, outage: Outage
    ) -> None:
        self._task = task
        self._arena: TaskEnv = stand.arena
        self._benches = stand.benches
        self._settings = settings
        self._usage_meter = usage_meter
        self._outage = outage

    async def made_by(self, agent: Agent, is_over: Callable[[], bool]) -> TaskReport:
        began = time.monotonic()
        folder = self._arena.surroundings.folder
        bench = _Laid(self._benches, folder, lambda: self._arena.lay(self._task), is_over)
        usage_meter, admit = self._usage_meter, lambda: _go_on(is_over)
        trier = Trier(agent, bench, self._settings, usage_meter, admit, usage_meter.grant, self._outage)
        names = [tool.name for tool in bench.tools]
        trial = await unless(is_over, trier.run(self._task.request, names), float("inf"))
        refuse_unreachable([trial])
        for each in self._benches:
            each.forget()  # so that no tool works in the environment any more
        verdict, why = self._judge(trial)
        if bench.is_overfull:
            verdict, why = "failed", (OVERFULL,)
        task = self._task
        return TaskReport(
            task.id,
            task.kind,
            task.request,
            task.split,
            verdict,
            domain=task.domain,
            why=why,
            trial=trial,
            usage=usage_meter.added_to({}),
            seconds=round(time.monotonic() - began, 3),
            notes=tuple(trier.notes),
            sandbox=self._benches[0].sandbox.words,
        )

    def _judge(self, trial: Trial) -> tuple[Judgement, tuple[str, ...]]:
        if trial.ended == "error":
            return "errored", (trial.error,)
        verdict, why = self._arena.judge(self._task, trial.answer)
        return (verdict, why) if trial.is_usable else ("failed", (trial.error, *why))


class _Laid(JoinedBench):
    """Tool hosts in an environment that is set up again on every reset.

    If tools write more into its folder than is allowed, they are stopped, the folder is emptied, and it
    `is_overfull`. Calls are not waited for when `is_over` says so.
    """

    def __init__(
        self, benches: Sequence[ToolHost], folder: str, lay: Callable[[], None], is_over: Callable[[], bool]
    ) -> None:
        super().__init__(benches)
        self._folder = folder
        self._lay = lay
        self._is_over = is_over
        self._next_look = 0.0
        self.is_overfull = False
        for bench in benches:
            bench.heed(self._is_to_end)

    def reset(self) -> None:
        self._forget()  # tools must start in the environment as it will be
        self._lay()
        self.is_overfull = False
        super().reset()

    def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
        for probe in probes:
            self._next_look = time.monotonic() + SOON
            made = list(super().run([probe], patience))
            if is_overfull(self._folder):
                made = made or [Reaction("died", detail=OVERFULL)]
                self._empty()
            if not made:
                return
            yield from made

    def _is_to_end(self) -> bool:
        """Called while a call is running."""
        if self._is_over() or time.monotonic() < self._next_look:
            return self._is_over()
        self._next_look = time.monotonic() + SOON
        return is_overfull(self._folder)

    def _empty(self) -> None:
        self._forget()
        Room(Path(self._folder)).clear()
        self.is_overfull = True

    def _forget(self) -> None:
        for bench in self._benches:
            bench.forget()


def _go_on(is_over: Callable[[], bool]) -> None:
    if is_over():
        raise Over
