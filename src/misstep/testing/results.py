"""The results of tests of objects, and the success rate that a test requires."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from misstep.core.agent import Agent
from misstep.core.case import Baselines
from misstep.core.outcome import Outcome
from misstep.core.results.finding import Finding, FuzzReport
from misstep.core.results.summary import Summary
from misstep.core.settings import Settings
from misstep.core.stats import wilson
from misstep.errors import UsageError
from misstep.planning.difficulty import measure
from misstep.rendering.terminal import baselines_in_words, percent
from misstep.runs.executor import replay_case
from misstep.runs.lookup import view_run
from misstep.store.runs import Store
from misstep.testing.apart import away_from_loops
from misstep.testing.notebook import Again, planning_html, planning_text, tools_html, tools_text


class PassDemand(msgspec.Struct, frozen=True):
    """The minimum share of cases that have to pass; cases that cannot be judged don't pass.

    If `significant`, a run falls short only if its whole 95 % interval does.
    """

    min_success: float = 1.0
    significant: bool = False

    def shortfall(self, summary: Summary) -> str:
        """How a run falls short, in words; empty if it does not."""
        asked, cases = self.min_success, summary.cases
        rate = summary.passed / cases if cases else 0.0
        reached = wilson(summary.passed, cases)[1] if self.significant else rate
        if reached >= asked:
            return ""
        unjudged = summary.inconclusive + summary.errored
        if unjudged and (summary.success is None or summary.success >= asked):
            return f"{unjudged} of {cases} cases could not be judged, where {percent(asked)} have to pass"
        head = f"success is {percent(summary.success)}, where {percent(asked)} is asked for"
        return f"{head}\n{self._reach(summary)}"

    def _reach(self, summary: Summary) -> str:
        low, high = summary.interval
        within = f"95 % interval {percent(low)} to {percent(high)}, chance level {percent(summary.chance)}"
        if summary.baselines:
            within += f", {baselines_in_words(summary.baselines)}"
        luck = "the interval reaches what is asked for: more cases would tell whether this was bad luck"
        return f"{within}\n{luck}" if high >= self.min_success else within


DEMANDS = PassDemand.__struct_fields__


def parse_demand(given: Mapping[str, Any], where: str) -> PassDemand:
    """The demand in keyword arguments. Raises `UsageError` for invalid values."""
    own = {name: given[name] for name in DEMANDS if name in given}
    least = own.get("min_success", 1.0)
    if isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1:
        raise UsageError(f"min_success = {least!r} won't do", "expected a number from 0 to 1", where=where)
    if not isinstance(own.get("significant", False), bool):
        raise UsageError(
            f"significant = {own['significant']!r} won't do", "expected True or False", where=where
        )
    return PassDemand(**own)


SHOWN = 2  # failed cases shown in full
FOLDED = 10  # the same if each can be expanded


class PlanningResult(msgspec.Struct, frozen=True, eq=False):
    """The result of testing an agent. It is stored as a run, and cases are looked up in the store."""

    summary: Summary
    settings: Settings
    agent: Agent | None  # None if the settings name it
    again: Again

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.summary.run

    @property
    def success(self) -> float | None:
        """The share of judged cases that passed; None if none could be judged."""
        return self.summary.success

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the success rate."""
        return self.summary.interval

    @property
    def chance(self) -> float | None:
        """The chance level on these cases."""
        return self.summary.chance

    @property
    def baselines(self) -> Baselines | None:
        """What agents that don't plan would reach on these cases: text order, and ignoring the family."""
        return self.summary.baselines

    @property
    def failures(self) -> list[Outcome]:
        """All cases that failed."""
        with Store(self.settings.store) as store:
            return list(store.outcomes(self.run, "failed"))

    def replay(self, case: str) -> Outcome:
        """Run a case again, given by its id or the start of it; the outcome is not stored."""
        with Store(self.settings.store) as store:
            before = store.find_outcome(self.run, case)
        return away_from_loops(lambda _: replay_case(before.case, self.settings, self.agent))

    def __repr__(self) -> str:
        told = self.summary
        return (
            f"PlanningResult(run={told.run!r}, agent={told.agent!r}, cases={told.cases},"
            f" success={told.success}, interval={told.interval}, failed={told.failed})"
        )

    def __str__(self) -> str:
        shown = [(outcome, measure(outcome.case)) for outcome in self._examples(SHOWN)]
        return planning_text(self.summary, shown, self.again)

    def _repr_html_(self) -> str:
        return planning_html(self.summary, self._examples(FOLDED), self.again)

    def _examples(self, most: int) -> Sequence[Outcome]:
        return view_run(self.settings, self.run, most).failures


class ToolsResult(msgspec.Struct, frozen=True, eq=False):
    """The result of testing tools. It is stored as a run."""

    summary: Summary
    report: FuzzReport
    settings: Settings
    again: Again

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.report.run

    @property
    def findings(self) -> list[Finding]:
        """Defects, each with the smallest calls that show it."""
        return self.report.findings

    def __repr__(self) -> str:
        report = self.report
        calls = sum(tool.calls for tool in report.tools)
        names = [tool.name for tool in report.tools]
        return (
            f"ToolsResult(run={report.run!r}, tools={names}, calls={calls}, findings={len(report.findings)})"
        )

    def __str__(self) -> str:
        return tools_text(self.report, self.again)

    def _repr_html_(self) -> str:
        return tools_html(self.report, self.again)
