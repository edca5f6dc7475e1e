"""Runs an agent on the tasks of a benchmark and judges the results."""

import asyncio
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from misstep.core.agent import Agent
from misstep.core.outcome import Judgement
from misstep.core.results.benchmark import Task, TaskReport
from misstep.core.settings import ToolRunSettings
from misstep.core.tool import Probe, Reaction
from misstep.errors import UsageError
from misstep.features.bench.environments import (
    OVERFULL,
    EnvPool,
    EnvWithTools,
    Simulated,
    TaskFolder,
    find_task_agent,
    is_overfull,
)
from misstep.runs.budget import RunBudget
from misstep.runs.execution import at_work
from misstep.runs.setup.agent_session import Over, UsageMeter, refuse_unreachable, unless
from misstep.runs.setup.models import Tell
from misstep.runs.setup.roles import Outage
from misstep.runs.setup.trying import Trier
from misstep.runs.setup.workers import Workers
from misstep.tool_host.host import ToolHost
from misstep.tool_host.live import JoinedBench

SOON = 0.2  # seconds until the folder is checked during a call; most calls are over by then


@dataclass
class Attempts:
    """Runs agents on the tasks that are `left`; several threads may call it at a time.

    Each task is taken when its turn comes, so that it need not be made before. `lost` are specs whose tools
    can't be loaded any more, and why; then all stop.
    """

    pool: EnvPool
    settings: ToolRunSettings
    run_budget: RunBudget
    left: Iterable[tuple[int, Task]]
    notice: Tell = lambda _: None
    starting: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        self._waiting = iter(self.left)
        self._taking = threading.Lock()
        self._outage = Outage()
        self.lost = dict[str, str]()

    def run(self, threads: int) -> Generator[TaskReport]:
        """Run tasks in several threads until none is left."""
        jobs = self.settings.jobs
        workers = Workers[int, TaskReport](lambda _, tell: self.work(tell), self.run_budget, jobs)
        with closing(workers.work(range(threads))) as reports:
            yield from reports

    def work(self, tell: Callable[[TaskReport], None]) -> None:
        """Run tasks in an environment of this thread's own until none is left."""
        with self.pool.lend() as lent:
            asyncio.run(self._work(lent, tell))

    async def _work(self, lent: EnvWithTools, tell: Callable[[TaskReport], None]) -> None:
        agent = find_task_agent(self.settings, self.notice, self.run_budget.rate_limiters)
        solve = self.pool.suite.solve
        async with at_work(agent):
            while not self._is_over() and (taken := self._take()):
                place, task = taken
                self.starting(task.id)
                # Simulated agents are told the solution.
                informed = agent.knowing(partial(solve, task)) if isinstance(agent, Simulated) else agent
                try:
                    tell(await self._attempt(informed, place, task, lent))
                except Over:
                    return
                except UsageError as error:
                    self.lost[error.where] = error.message
                    return

    def _take(self) -> tuple[int, Task] | None:
        with self._taking:
            return next(self._waiting, None)

    def _is_over(self) -> bool:
        return self.run_budget.is_over() or bool(self.run_budget.lacking or self.lost)

    async def _attempt(self, agent: Agent, place: int, task: Task, lent: EnvWithTools) -> TaskReport:
        began, usage_meter = time.monotonic(), UsageMeter(self.run_budget)
        folder = lent.env.surroundings.folder
        tools = _LaidTools(lent.hosts, folder, lambda: lent.env.lay(task), self._is_over)
        trier = Trier(agent, tools, self.settings, usage_meter, self._go_on, usage_meter.grant, self._outage)
        names = [tool.name for tool in tools.tools]
        trial = await unless(self._is_over, trier.run(task.request, names), float("inf"))
        refuse_unreachable([trial])
        for host in lent.hosts:
            host.forget()  # so that no tool works in the environment any more
        verdict: Judgement = "errored"
        why: tuple[str, ...] = (trial.error,)
        if trial.ended != "error":
            verdict, why = lent.env.judge(task, trial.answer)
            if not trial.is_usable:
                verdict, why = "failed", (trial.error, *why)
        if tools.is_overfull:
            verdict, why = "failed", (OVERFULL,)
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
            sandbox=lent.hosts[0].sandbox.words,
            place=place,
        )

    def _go_on(self) -> None:
        if self._is_over():
            raise Over


class _LaidTools(JoinedBench):
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
                self._forget()
                TaskFolder(Path(self._folder)).clear()
                self.is_overfull = True
            if not made:
                return
            yield from made

    def _is_to_end(self) -> bool:
        """Called while a call is running."""
        if self._is_over() or time.monotonic() < self._next_look:
            return self._is_over()
        self._next_look = time.monotonic() + SOON
        return is_overfull(self._folder)

    def _forget(self) -> None:
        for bench in self._benches:
            bench.forget()
