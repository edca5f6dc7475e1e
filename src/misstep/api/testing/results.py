"""What a test of an object came to, to be looked at and asked."""

from collections.abc import Sequence

import msgspec

from misstep.api.replay import replay_case
from misstep.api.runs import difficulty_of, view_run
from misstep.api.testing.apart import away_from_loops
from misstep.core.agent import Agent
from misstep.core.difficulty import Baselines
from misstep.core.finding import Finding, FuzzReport
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings
from misstep.core.summary import Summary
from misstep.report.notebook import planning_html, tools_html
from misstep.report.told import Again, planning_text, tools_text
from misstep.store.runs import Store

SHOWN = 2  # cases that did not pass, in full
FOLDED = 10  # the same where each can be unfolded


class PlanningResult(msgspec.Struct, frozen=True, eq=False):
    """What a test of an agent came to. It is kept as a run of the store, and looks cases up there."""

    summary: Summary
    settings: Settings
    agent: Agent | None  # none where the settings name it
    again: Again

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.summary.run

    @property
    def success(self) -> float | None:
        """The share of judged cases that passed; None where none could be judged."""
        return self.summary.success

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the success."""
        return self.summary.interval

    @property
    def chance(self) -> float | None:
        """What blind luck would reach on these cases."""
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
        """Let the agent try a case once more, named by its id or how that begins; this is not kept."""
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
        shown = [(outcome, difficulty_of(outcome.case)) for outcome in self._examples(SHOWN)]
        return planning_text(self.summary, shown, self.again)

    def _repr_html_(self) -> str:
        return planning_html(self.summary, self._examples(FOLDED), self.again)

    def _examples(self, most: int) -> Sequence[Outcome]:
        return view_run(self.settings, self.run, most).failures


class ToolsResult(msgspec.Struct, frozen=True, eq=False):
    """What a test of tools came to. It is kept as a run of the store."""

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
