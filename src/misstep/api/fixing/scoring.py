"""Candidates tried on an agent, request by request."""

import asyncio
import os
import tempfile
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from math import inf
from typing import Protocol, TypeAlias

from misstep.api.agent_session import AgentSession, Over, UsageMeter, refuse_unreachable, unless
from misstep.api.allowance import Allowance
from misstep.api.benchmarking.agents import contestant
from misstep.api.benchmarking.arena import Discipline
from misstep.api.benchmarking.attempting import Attempts
from misstep.api.benchmarking.env_pool import EnvPool
from misstep.api.late_models import LateTolerantModels
from misstep.api.models import Tell
from misstep.api.workbenches import Workbenches, conditions_of
from misstep.api.workers import Workers
from misstep.core.agent import Agent
from misstep.core.benchmark import TaskReport
from misstep.core.descriptions import Wording, Wordings, reworded, write_descriptions
from misstep.core.fixing import Attempt, FixReport, Trying
from misstep.core.settings import Settings
from misstep.core.tool import Described
from misstep.core.words import cut
from misstep.errors import UsageError
from misstep.tool_host.joined import JoinedBench
from misstep.tool_host.process import Process
from misstep.tooling.fixing.judging import SHOWN, judge_trial

Unit: TypeAlias = tuple[int, Trying]  # the number of a candidate, and what it is tried on


class Scorer(Protocol):
    """Tries candidates, and gives what comes of it as it comes; not all of it where there is no time left."""

    def score(self, report: FixReport, units: Sequence[Unit], bill: UsageMeter) -> Generator[Attempt]: ...


class OnRequests:
    """Puts requests to an agent that is told about its tool in other words; it is a `Scorer`."""

    def __init__(
        self, benches: Workbenches, spec: str, settings: Settings, company: AgentSession, allowance: Allowance
    ) -> None:
        self._benches = benches
        self._spec = spec
        self._jobs = settings.jobs
        self._company = company
        self._allowance = allowance

    def score(self, report: FixReport, units: Sequence[Unit], bill: UsageMeter) -> Generator[Attempt]:
        left = deque(units)

        def work(_: int, tell: Callable[[Attempt], None]) -> None:
            with self._benches.lend(self._spec) as bench:
                asyncio.run(self._try_all(bench, report, left, bill, tell))

        workers = Workers[int, Attempt](work, self._allowance, self._jobs)
        with closing(workers.work(range(min(self._jobs, len(units))))) as attempts:
            yield from attempts

    async def _try_all(
        self,
        process: Process,
        report: FixReport,
        left: deque[Unit],
        bill: UsageMeter,
        tell: Callable[[Attempt], None],
    ) -> None:
        process.heed(self._company.is_over)
        bench = Reworded([process])
        async with self._company.gathered(bench, bill) as (counsel, trier):
            models = LateTolerantModels(counsel)
            while left and not self._company.is_over():
                unit = left.popleft()
                number, trying = unit
                bench.wordings = {report.tool: report.words_of(number)}
                try:
                    trial = await unless(self._company.is_over, trier.run(trying.request, trying.tools), inf)
                    refuse_unreachable([trial])
                    judged = judge_trial(number, trying, trial, report.tool, models)
                    tell(await unless(self._company.is_over, judged, inf))
                except Over:
                    left.appendleft(unit)
                    return


class Reworded(JoinedBench):
    """Workbenches whose tools are told of in other words, those of the moment."""

    def __init__(self, benches: Sequence[Process]) -> None:
        super().__init__(benches)
        self.wordings: Wordings = {}

    @property
    def tools(self) -> Sequence[Described]:
        return [reworded(tool, self.wordings) for tool in super().tools]


class OnTasks:
    """Puts tasks of a benchmark to an agent that is told about a tool in other words; it is a `Scorer`."""

    def __init__(
        self,
        discipline: Discipline,
        specs: Sequence[str],
        settings: Settings,
        allowance: Allowance,
        tell: Tell,
    ) -> None:
        self._discipline = discipline
        self._tasks = {task.id: task for task in discipline.tasks}
        self._specs = specs
        self._settings = settings
        self._allowance = allowance
        self._tell = tell

    def score(self, report: FixReport, units: Sequence[Unit], bill: UsageMeter) -> Generator[Attempt]:
        with tempfile.TemporaryDirectory(prefix="misstep-") as folder:
            for number in dict.fromkeys(number for number, _ in units):
                path = os.path.join(folder, "descriptions.toml")
                _write(path, {**self._usual(), report.tool: report.words_of(number)})
                own = [each for candidate, each in units if candidate == number]
                yield from self._tried(number, own, self._settings.overlay({"descriptions": path}), bill)
                if self._allowance.is_over() or self._allowance.lacking:
                    return

    def _usual(self) -> dict[str, Wording]:
        """What else is said in other words."""
        return conditions_of(self._settings).wordings

    def _tried(
        self, number: int, trying: Sequence[Trying], settings: Settings, bill: UsageMeter
    ) -> Generator[Attempt]:
        tasks = [(place, self._tasks[each.id]) for place, each in enumerate(trying)]
        jobs, allowance = min(settings.jobs, len(trying)), self._allowance

        def find() -> Agent:
            return contestant(settings, self._tell, allowance.gates)

        with EnvPool(self._discipline, self._specs, settings) as stands:
            attempts = Attempts(stands, settings, allowance, find, tasks)
            workers = Workers[int, TaskReport](lambda _, told: attempts.work(told), allowance, jobs)
            with closing(workers.work(range(jobs))) as work:
                for done in work:
                    bill.note(done.usage)
                    yield _attempt(number, done)
        for place, why in attempts.lost.items():
            raise UsageError(why, where=place)


def _attempt(number: int, done: TaskReport) -> Attempt:
    tokens = sum(usage.input + usage.output for usage in done.usage.values())
    why = cut("; ".join(done.why), SHOWN) if done.verdict != "passed" else ""
    return Attempt(number, done.name, done.verdict, why, True, done.calls, tokens)


def _write(path: str, wordings: Wordings) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(write_descriptions(wordings))
