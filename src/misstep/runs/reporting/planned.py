"""Implements most of `RunFeature` for runs on planning cases, of which there may be very many."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from misstep.core.event import CaseFinished, Event
from misstep.core.results.comparison import Comparison, Held, TaskComparison
from misstep.core.results.report import Format, ReportItem
from misstep.core.results.summary import Summary
from misstep.core.settings import Settings
from misstep.interop.episodes import Episode, episode_of_case
from misstep.interop.tables import CaseRow, RowSubject, Table, case_row
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.markup import Markup
from misstep.rendering.html.page import RunPage, planning_parts
from misstep.runs.baseline import held_of
from misstep.runs.compare import break_down, compare_runs
from misstep.runs.kinds import RunFeature
from misstep.runs.reporting.case_bundles import bundle_of
from misstep.runs.reporting.items import ReportSource
from misstep.runs.summary import summarise_stored
from misstep.store.runs import Run, Store

ENOUGH = 2  # minimum number of topics for a table of them


class PlanningRuns(RunFeature):
    """Tests of an agent on planning cases; other kinds of run extend it."""

    def summary(self, store: Store, run: Run) -> Summary:
        return summarise_stored(store.tally(run.id), run)

    def events(self, store: Store, run: Run) -> Iterator[Event]:
        for outcome in store.outcomes(run.id):
            yield CaseFinished(run.id, outcome)

    def as_json(self, settings: Settings, run: Run, summary: Summary) -> dict[str, Any]:
        plain: dict[str, Any] = msgspec.to_builtins(self.result(settings, run) or summary)
        return plain

    def result(self, settings: Settings, run: Run) -> msgspec.Struct | None:
        """The results of such a run besides its summary."""
        return None

    def items(self, settings: Settings, home: ReportSource) -> Sequence[ReportItem] | None:
        return None

    def page(self, settings: Settings, run: Run, summary: Summary, cases: CaseBundle | None) -> RunPage:
        shown = cases or bundle_of(settings, run)
        topics = break_down(settings, run.id, "topic")
        breakdowns = (topics,) if len(topics.portions) >= ENOUGH else ()
        parts = planning_parts(summary, self.findings(settings, run, summary), breakdowns, shown)
        return RunPage(summary, tuple(parts), shown)

    def findings(self, settings: Settings, run: Run, summary: Summary) -> Iterator[Markup]:
        """Sections of the page between the counts and the cases."""
        return iter(())

    def table(self, store: Store, run: Run, subject: RowSubject) -> Table:
        return Table(CaseRow, (case_row(subject, each) for each in store.outcomes(run.id)))

    def episodes(self, store: Store, run: Run, form: Format) -> Iterator[Episode]:
        return map(episode_of_case, store.outcomes(run.id))

    def compare(self, settings: Settings, first: str, second: str) -> Comparison | TaskComparison:
        return compare_runs(settings, first, second)

    def hold(self, settings: Settings, baseline: str, run: str) -> Held:
        return held_of(self.compare(settings, baseline, run), "case")
