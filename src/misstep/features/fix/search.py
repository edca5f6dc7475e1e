"""Searches for a better description of a tool by testing candidates on an agent."""

import asyncio
import json
import tempfile
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Protocol, TypeAlias

from msgspec import structs

from misstep.core.event import Event, Notice
from misstep.core.results.descriptions import Wordings, reworded, write_descriptions
from misstep.core.results.fixing import ORIGINAL, Candidate, FixAttempt, FixReport, Part, Trying
from misstep.core.settings import FixSettings, LimitSettings, ToolRunSettings
from misstep.core.spending import Spent
from misstep.core.text import cut
from misstep.core.tool import Described, Invocation
from misstep.errors import UsageError
from misstep.features.bench.attempts import Attempts
from misstep.features.bench.environments import BenchmarkSuite, EnvPool
from misstep.fuzzing.descriptions.evidence import SHOWN_REASON, judge_trial
from misstep.fuzzing.descriptions.proposing import Call, Proposer
from misstep.runs.budget import RunBudget
from misstep.runs.execution import masked
from misstep.runs.setup.agent_session import MARK, AgentSession, Over, UsageMeter, refuse_unreachable, unless
from misstep.runs.setup.models import Tell
from misstep.runs.setup.roles import LateTolerantModels
from misstep.runs.setup.workbenches import Workbenches, conditions_of
from misstep.runs.setup.workers import Workers
from misstep.tool_host.host import ToolHost
from misstep.tool_host.live import JoinedBench, LiveTools

Unit: TypeAlias = tuple[int, Trying]  # the number of a candidate, and what it is tested on


class Scorer(Protocol):
    """Tests candidates and yields the results as they arrive; not all of them if time runs out."""

    def score(
        self, report: FixReport, units: Sequence[Unit], usage_meter: UsageMeter
    ) -> Generator[FixAttempt]: ...


@dataclass
class OnRequests:
    """Tests candidates on requests, with an agent that sees the new description; it is a `Scorer`."""

    benches: Workbenches
    spec: str
    settings: LimitSettings
    agent_session: AgentSession
    run_budget: RunBudget

    def score(
        self, report: FixReport, units: Sequence[Unit], usage_meter: UsageMeter
    ) -> Generator[FixAttempt]:
        left = deque(units)

        def work(_: int, tell: Callable[[FixAttempt], None]) -> None:
            with self.benches.lend(self.spec) as bench:
                asyncio.run(self._try_all(bench, report, left, usage_meter, tell))

        workers = Workers[int, FixAttempt](work, self.run_budget, self.settings.jobs)
        with closing(workers.work(range(min(self.settings.jobs, len(units))))) as attempts:
            yield from attempts

    async def _try_all(
        self,
        process: ToolHost,
        report: FixReport,
        left: deque[Unit],
        usage_meter: UsageMeter,
        tell: Callable[[FixAttempt], None],
    ) -> None:
        process.heed(self.agent_session.is_over)
        bench = Reworded([process])
        async with self.agent_session.gathered(bench, usage_meter) as (role_models, trier):
            models = LateTolerantModels(role_models)
            while left and not self.agent_session.is_over():
                unit = left.popleft()
                number, trying = unit
                bench.wordings = {report.tool: report.words_of(number)}
                try:
                    work = trier.run(trying.request, trying.tools)
                    trial = await unless(self.agent_session.is_over, work, inf)
                    refuse_unreachable([trial])
                    judged = judge_trial(number, trying, trial, report.tool, models)
                    tell(await unless(self.agent_session.is_over, judged, inf))
                except Over:
                    left.appendleft(unit)
                    return


class Reworded(JoinedBench):
    """Tool hosts whose tools get the descriptions in `wordings`."""

    def __init__(self, benches: Sequence[ToolHost]) -> None:
        super().__init__(benches)
        self.wordings: Wordings = {}

    @property
    def tools(self) -> Sequence[Described]:
        return [reworded(tool, self.wordings) for tool in super().tools]


@dataclass
class OnTasks:
    """Tests candidates on tasks of a benchmark; it is a `Scorer`."""

    suite: BenchmarkSuite
    specs: Sequence[str]
    settings: ToolRunSettings
    run_budget: RunBudget
    tell: Tell

    def score(
        self, report: FixReport, units: Sequence[Unit], usage_meter: UsageMeter
    ) -> Generator[FixAttempt]:
        with tempfile.TemporaryDirectory(prefix="misstep-") as folder:
            for number in dict.fromkeys(number for number, _ in units):
                # Together with descriptions that the settings override as well.
                usual = conditions_of(self.settings).wordings
                path = Path(folder, "descriptions.toml")
                wordings = {**usual, report.tool: report.words_of(number)}
                path.write_text(write_descriptions(wordings), encoding="utf-8")
                own = [each for candidate, each in units if candidate == number]
                settings = self.settings.overlay({"descriptions": str(path)})
                yield from self._tried(number, own, settings, usage_meter)
                if self.run_budget.is_over() or self.run_budget.lacking:
                    return

    def _tried(
        self, number: int, trying: Sequence[Trying], settings: ToolRunSettings, usage_meter: UsageMeter
    ) -> Generator[FixAttempt]:
        known = {task.id: task for task in self.suite.tasks}
        tasks = [(place, known[each.id]) for place, each in enumerate(trying)]
        with EnvPool(self.suite, self.specs, settings) as pool:
            attempts = Attempts(pool, settings, self.run_budget, tasks, self.tell)
            with closing(attempts.run(min(settings.jobs, len(trying)))) as reports:
                for done in reports:
                    usage_meter.add(Spent(done.usage))
                    tokens = sum(usage.input + usage.output for usage in done.usage.values())
                    why = cut("; ".join(done.why), SHOWN_REASON) if done.verdict != "passed" else ""
                    yield FixAttempt(number, done.name, done.verdict, why, True, done.calls, tokens)
        for place, why in attempts.lost.items():
            raise UsageError(why, where=place)


Work: TypeAlias = Generator[FixReport | Event, None, None]


@dataclass
class DescriptionSearch:
    """Searches for a better description of a tool; `report` holds the progress."""

    report: FixReport
    spec: str
    settings: FixSettings
    benches: Workbenches
    agent_session: AgentSession
    run_budget: RunBudget
    scorer: Scorer

    def __post_init__(self) -> None:
        self._before = self.report
        self._usage_meter = UsageMeter(self.run_budget)
        self._began = time.monotonic()

    def run(self) -> Work:
        """Do all remaining steps. The last report says that it is done, unless a limit was reached."""
        self.report = without_secrets(self.report)
        yield from self._propose()
        yield from self._score("validation", [ORIGINAL, *[each.number for each in self.report.usable]])
        if not self.agent_session.is_over() and (chosen := self.report.chosen):
            yield Notice(f"{self.report.tool}: candidate {chosen.number} is the best; testing it")
            yield from self._score("test", [ORIGINAL, chosen.number])
        if not self.agent_session.is_over():
            yield self._kept(ended="done")

    def _kept(self, **changes: object) -> FixReport:
        usage = self._usage_meter.added_to(self._before.usage)
        notes = [note for note in self.report.notes if MARK not in note]
        self.report = structs.replace(
            self.report,
            **changes,
            usage=usage,
            seconds=round(self._before.seconds + time.monotonic() - self._began, 3),
            notes=tuple(dict.fromkeys((*notes, *self.agent_session.marks_passed(usage)))),
        )
        return self.report

    def _propose(self) -> Work:
        """Make candidates with all strategies in turn, as many as wanted."""
        if self.agent_session.is_over() or len(self.report.candidates) >= self.settings.candidates:
            return

        def write(_: None, tell: Callable[[Candidate], None]) -> None:
            with self.benches.lend(self.spec) as bench:
                asyncio.run(self._write_all(bench, tell))

        workers = Workers[None, Candidate](write, self.run_budget, 1)
        with closing(workers.work([None])) as work:
            for candidate in work:
                yield self._kept(candidates=(*self.report.candidates, candidate))

    async def _write_all(self, bench: ToolHost, tell: Callable[[Candidate], None]) -> None:
        bench.heed(self.agent_session.is_over)
        report, strategies = self.report, self.settings.strategy
        (tool,) = [each for each in bench.tools if each.name == report.tool]
        made = list(report.candidates)
        try:
            async with self.agent_session.advised(self._usage_meter) as role_models:
                call = self._caller(bench)
                models = LateTolerantModels(role_models)
                proposer = Proposer(tool, models, report.examples, self.settings.seed, call)
                for number in range(len(made) + 1, self.settings.candidates + 1):
                    strategy = strategies[(number - 1) % len(strategies)]
                    work = proposer.propose(number, strategy, made)
                    made.append(_without_secret(await unless(self.agent_session.is_over, work, inf)))
                    tell(made[-1])
        except Over:
            return

    def _caller(self, bench: ToolHost) -> Call:
        """Calls the tool from a fresh start; these calls count like all others."""

        async def call(invocation: Invocation) -> str:
            self.agent_session.go_on()
            bench.reset()
            world = LiveTools(bench, [invocation.tool], self._usage_meter.grant)
            said = world.answer(invocation.tool, json.loads(invocation.arguments))
            if world.failure is not None:
                raise world.failure
            if world.is_stopped:
                raise Over
            return said

        return call

    def _score(self, part: Part, numbers: Sequence[int]) -> Work:
        done = {(each.candidate, each.trying) for each in self.report.attempts}
        tried = [(number, each) for number in numbers for each in self.report.part(part)]
        units = [(number, each) for number, each in tried if (number, each.id) not in done]
        if self.agent_session.is_over() or not units:
            return
        with closing(self.scorer.score(self.report, units, self._usage_meter)) as attempts:
            for attempt in attempts:
                yield self._kept(attempts=(*self.report.attempts, attempt))
        for number in numbers:
            rate = self.report.standing(number, part).rate
            who = "its own description" if number == ORIGINAL else f"candidate {number}"
            yield Notice(f"{self.report.tool}: {who}: {rate.passed} of {rate.judged} on {part}")


def without_secrets(report: FixReport) -> FixReport:
    """The same report, with candidates that contain a secret marked as unusable."""
    return structs.replace(report, candidates=tuple(map(_without_secret, report.candidates)))


def _without_secret(candidate: Candidate) -> Candidate:
    if candidate.wording is None or masked(candidate.wording) == candidate.wording:
        return candidate
    why = "It contains the value of a secret environment variable."
    return structs.replace(candidate, wording=None, why=why)
