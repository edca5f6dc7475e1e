"""The search for better words about one tool, from candidates to the one that is left."""

import asyncio
import json
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from math import inf
from typing import TypeAlias

from msgspec import structs

from misstep.api.agent_session import MARK, AgentSession, Over, UsageMeter, unless
from misstep.api.allowance import Allowance
from misstep.api.fixing.scoring import Scorer
from misstep.api.late_models import LateTolerantModels
from misstep.api.masking import masked
from misstep.api.workbenches import Workbenches
from misstep.api.workers import Workers
from misstep.core.event import Event, Notice
from misstep.core.fixing import ORIGINAL, Candidate, FixReport, Part
from misstep.core.settings import Settings
from misstep.core.tool import Invocation
from misstep.tool_host.live import LiveTools
from misstep.tool_host.process import Process
from misstep.tooling.fixing.proposing import Call, Proposer

Work: TypeAlias = Generator[FixReport | Event, None, None]


class DescriptionSearch:
    """Looks for better words about a tool; `report` is how far it has got."""

    def __init__(
        self,
        report: FixReport,
        spec: str,
        settings: Settings,
        benches: Workbenches,
        company: AgentSession,
        allowance: Allowance,
        scorer: Scorer,
    ) -> None:
        self.report = self._before = report
        self._spec = spec
        self._settings = settings
        self._benches = benches
        self._company = company
        self._allowance = allowance
        self._scorer = scorer
        self._bill = UsageMeter(allowance)
        self._began = time.monotonic()

    def mend(self) -> Work:
        """All steps that are left. The last report says that it is done, unless something is used up."""
        self.report = without_secrets(self.report)
        yield from self._propose()
        yield from self._score("validation", [ORIGINAL, *[each.number for each in self.report.usable]])
        if not self._is_short() and (chosen := self.report.chosen):
            yield Notice(f"{self.report.tool}: candidate {chosen.number} is the best, and is tested now")
            yield from self._score("test", [ORIGINAL, chosen.number])
        if not self._is_short():
            yield self._kept(ended="done")

    def _is_short(self) -> bool:
        return self._company.is_over()

    def _kept(self, **changes: object) -> FixReport:
        usage = self._bill.added_to(self._before.usage)
        notes = [note for note in self.report.notes if MARK not in note]
        self.report = structs.replace(
            self.report,
            **changes,
            usage=usage,
            seconds=round(self._before.seconds + time.monotonic() - self._began, 3),
            notes=tuple(dict.fromkeys((*notes, *self._company.marks_passed(usage)))),
        )
        return self.report

    def _propose(self) -> Work:
        """Candidates by all strategies in turn, as many as are wanted."""
        if self._is_short() or len(self.report.candidates) >= self._settings.candidates:
            return
        workers = Workers[None, Candidate](lambda _, tell: self._write(tell), self._allowance, 1)
        with closing(workers.work([None])) as work:
            for candidate in work:
                yield self._kept(candidates=(*self.report.candidates, candidate))

    def _write(self, tell: Callable[[Candidate], None]) -> None:
        with self._benches.lend(self._spec) as bench:
            asyncio.run(self._write_all(bench, tell))

    async def _write_all(self, bench: Process, tell: Callable[[Candidate], None]) -> None:
        bench.heed(self._company.is_over)
        report, strategies = self.report, self._settings.strategy
        (tool,) = [each for each in bench.tools if each.name == report.tool]
        made = list(report.candidates)
        try:
            async with self._company.advised(self._bill) as counsel:
                call = self._caller(bench)
                proposer = Proposer(
                    tool, LateTolerantModels(counsel), report.examples, self._settings.seed, call
                )
                for number in range(len(made) + 1, self._settings.candidates + 1):
                    strategy = strategies[(number - 1) % len(strategies)]
                    work = proposer.propose(number, strategy, made)
                    made.append(_without_secret(await unless(self._company.is_over, work, inf)))
                    tell(made[-1])
        except Over:
            return

    def _caller(self, bench: Process) -> Call:
        """Calls of the tool from a fresh start, which count like all others."""

        async def call(invocation: Invocation) -> str:
            self._company.go_on()
            bench.reset()
            world = LiveTools(bench, [invocation.tool], self._bill.grant)
            said = world.answer(invocation.tool, json.loads(invocation.arguments))
            if world.failure is not None:
                raise world.failure
            if world.is_stopped:
                raise Over
            return said

        return call

    def _score(self, part: Part, numbers: Sequence[int]) -> Work:
        """What is left to be tried of a part, under each of some candidates."""
        done = {(each.candidate, each.trying) for each in self.report.attempts}
        tried = [(number, each) for number in numbers for each in self.report.part(part)]
        units = [(number, each) for number, each in tried if (number, each.id) not in done]
        if self._is_short() or not units:
            return
        with closing(self._scorer.score(self.report, units, self._bill)) as attempts:
            for attempt in attempts:
                yield self._kept(attempts=(*self.report.attempts, attempt))
        for number in numbers:
            yield Notice(self._told(number, part))

    def _told(self, number: int, part: Part) -> str:
        rate = self.report.standing(number, part).rate
        who = "its own words" if number == ORIGINAL else f"candidate {number}"
        return f"{self.report.tool}: {who}: {rate.passed} of {rate.judged} on {part}"


def without_secrets(report: FixReport) -> FixReport:
    """The same, but that candidates with a secret in them can't be used, whenever they were made."""
    return structs.replace(report, candidates=tuple(map(_without_secret, report.candidates)))


def _without_secret(candidate: Candidate) -> Candidate:
    if candidate.wording is None or masked(candidate.wording) == candidate.wording:
        return candidate
    return structs.replace(candidate, wording=None, why="It holds the value of a secret variable.")
