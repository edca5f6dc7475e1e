"""The defects of a tool put to an agent, one after the other."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from msgspec import structs

from misstep.api.agents import find_agent
from misstep.api.allowance import Allowance
from misstep.api.budgets import pricing
from misstep.api.counsel import Counsel
from misstep.api.execution import at_work
from misstep.api.models import Tell
from misstep.api.trying import Trier
from misstep.core.finding import Finding, Journey, ToolReport
from misstep.core.model import Message
from misstep.core.passage import Passage
from misstep.core.settings import Settings
from misstep.core.transcript import Usage
from misstep.errors import UsageError
from misstep.tooling.asking.harvest import richness_of, with_requests
from misstep.tooling.asking.passage import RUNTIME_ERRORS, Passing
from misstep.tooling.asking.prompts import Prompts
from misstep.workshop.process import Process

MARK = "over the mark of"

Keep = Callable[[ToolReport], None]


class Over(Exception):
    """There is no time, or nothing left of the budget, for another request."""


def agent_settings(settings: Settings) -> Settings:
    """The settings for the agent: an interpreter is for the tools, unless the agent is code as well."""
    kind, _, rest = settings.agent.partition(":")
    if kind == "sim":
        raise UsageError(f"'{settings.agent}' can only plan", "tests of tools need an agent that can read")
    return settings if rest and kind != "mcp" else settings.overlay({"python": ""})


class Interviewer:
    """Puts what was found in tools to an agent that has them, within what is allowed."""

    def __init__(self, settings: Settings, allowance: Allowance, tell: Tell) -> None:
        self._settings = settings
        self._allowance = allowance
        self._prompts = Prompts(settings.prompts)
        self._price = pricing(settings)
        self._tell = tell

    def interview(self, bench: Process, report: ToolReport, spec: str, keep: Keep) -> ToolReport:
        """The report with what became of each finding; it says "stopped" if there is more to do.

        `keep` hears how far it has got after each.
        """
        return asyncio.run(self._interview(bench, report, spec, keep))

    async def _interview(self, bench: Process, report: ToolReport, spec: str, keep: Keep) -> ToolReport:
        journey, bill = report.journey or Journey(), _Bill(self._allowance)
        began, done = time.monotonic(), {passage.finding for passage in journey.passages}
        until = began + self._settings.time_per_tool - report.seconds - journey.seconds

        def so_far(passages: Sequence[Passage]) -> ToolReport:
            own = structs.replace(journey, passages=tuple(passages), usage=bill.added_to(journey.usage))
            own = structs.replace(own, richness=richness_of(own.trials), seconds=_since(began, journey))
            findings = tuple(with_requests(report.findings, own.trials, spec))
            notes = tuple(note for note in report.notes if MARK not in note)
            notes = (*notes, *self._marks_passed(own))
            return structs.replace(report, journey=own, findings=findings, notes=notes)

        passages = list(journey.passages)
        try:
            async with self._parties(bench, bill) as (counsel, trier):
                count = self._settings.requests_per_crash
                passing = Passing(bench.tools, counsel, trier, self._prompts, count)
                for finding in _candidates(report.findings, done):
                    self._go_on()
                    if time.monotonic() > until:
                        return structs.replace(so_far(passages), ended="time")
                    passages.append(await passing.lead(finding))
                    keep(structs.replace(so_far(passages), ended="stopped"))
        except Over:
            return structs.replace(so_far(passages), ended="stopped")
        return so_far(passages)

    @asynccontextmanager
    async def _parties(self, bench: Process, bill: "_Bill") -> AsyncIterator[tuple[Counsel, Trier]]:
        agent = find_agent(agent_settings(self._settings), self._tell)
        counsel = Counsel(self._settings, self._prompts, bill, self._admit, self._tell)
        try:
            async with at_work(agent):
                yield counsel, Trier(agent, bench, self._settings, bill)
        finally:
            await counsel.close()

    def _admit(self, _: Sequence[Message]) -> None:
        self._go_on()

    def _go_on(self) -> None:
        if self._allowance.is_over() or self._allowance.lacking:
            raise Over

    def _marks_passed(self, journey: Journey) -> list[str]:
        """What is beyond the marks for one tool, which stop nobody."""
        tokens = sum(usage.input + usage.output for usage in journey.usage.values())
        usd = sum(self._price(role, usage) for role, usage in journey.usage.items())
        notes = list[str]()
        if tokens > self._settings.tokens_per_tool:
            notes.append(f"{tokens:,} tokens were used, {MARK} {self._settings.tokens_per_tool:,}")
        if usd > self._settings.usd_per_tool:
            notes.append(f"{usd:.4f} USD were spent, {MARK} {self._settings.usd_per_tool:g}")
        return notes


class _Bill:
    """What the interview of one tool uses, told to the run as well; it is an `Account`."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._usage = dict[str, Usage]()

    def spend(self, role: str, usage: Usage) -> None:
        self._usage[role] = self._usage.get(role, Usage()) + usage
        self._allowance.spend(role, usage)

    def call(self) -> None:
        self._allowance.call()

    def added_to(self, before: dict[str, Usage]) -> dict[str, Usage]:
        roles = {**before, **self._usage}
        return {role: before.get(role, Usage()) + self._usage.get(role, Usage()) for role in roles}


def _candidates(findings: Sequence[Finding], done: set[str]) -> list[Finding]:
    return [each for each in findings if each.id not in done and each.kind in RUNTIME_ERRORS]


def _since(began: float, journey: Journey) -> float:
    return round(journey.seconds + time.monotonic() - began, 3)
