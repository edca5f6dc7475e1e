"""The interface of a kind of run: for runs on planning cases, and for those with a report for each unit.

Each kind names its feature, whose module `kind` holds a `FEATURE`. Listing, showing, comparing, exporting and
reporting use only this interface.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic

import msgspec

from misstep.core.case import MOST_ACTIONS
from misstep.core.event import CaseFinished, Event
from misstep.core.results.comparison import Comparison, Held, TaskComparison
from misstep.core.results.report import Format, ReportItem
from misstep.core.results.summary import Summary
from misstep.core.settings import StoreSettings, ViewSettings
from misstep.errors import UsageError
from misstep.interop.episodes import Episode, episode_of_case
from misstep.interop.tables import CaseRow, RowSubject, Table, TableRow, case_row
from misstep.rendering.html.cases import CaseBundle
from misstep.rendering.html.markup import Markup
from misstep.rendering.html.page import PartPage, RunPage, planning_parts
from misstep.runs.compare import break_down, compare_runs, held_of
from misstep.runs.reporting.case_bundles import bundle_of
from misstep.runs.reporting.items import ReportSource
from misstep.runs.summary import R, summarise_stored
from misstep.store.runs import Run, Store

ENOUGH = 2  # minimum number of topics for a table of them


class RunFeature(ABC):
    """Reads, sums up and reports the stored runs of one kind, finished or not."""

    rules: tuple[str, ...] = ("plan",)  # families of rules that such a run may find violated
    parts = ""  # what has pages of its own besides cases: findings, sets, tasks
    has_curve = False  # whether capability curves can be shown with it

    @abstractmethod
    def summary(self, store: Store, run: Run) -> Summary:
        """The summary so far of an unfinished run."""

    @abstractmethod
    def events(self, store: Store, run: Run) -> Iterator[Event]:
        """The events of its cases, tools or tasks."""

    @abstractmethod
    def as_json(self, settings: StoreSettings, run: Run, summary: Summary) -> dict[str, Any]:
        """The object that `--json` prints."""

    @abstractmethod
    def items(self, settings: StoreSettings, home: ReportSource) -> Sequence[ReportItem] | None:
        """The items of a report; None if there is one for each case, which may not fit into memory."""

    @abstractmethod
    def page(self, settings: ViewSettings, run: Run, summary: Summary, cases: CaseBundle | None) -> RunPage:
        """Its HTML page; `cases` are given if a server sends them one by one."""

    @abstractmethod
    def table(self, store: Store, run: Run, subject: RowSubject) -> Table:
        """Its rows; read them while the store is open."""

    @abstractmethod
    def episodes(self, store: Store, run: Run, form: Format) -> Iterator[Episode]:
        """What an agent did in it; a `UsageError` if no agent was tested."""

    def compare(self, settings: StoreSettings, first: str, second: str) -> Comparison | TaskComparison:
        """Compare the second run with the first: case by case, unless it is overridden."""
        return compare_runs(settings, first, second)

    def hold(self, settings: StoreSettings, baseline: str, run: str) -> Held:
        """Compare a run with its baseline; a `UsageError` if they have nothing in common."""
        return held_of(self.compare(settings, baseline, run), "case")

    def part_page(self, settings: ViewSettings, run: Run, name: str) -> PartPage:
        """The page of one part, by its id; a `UsageError` if there is no such part."""
        raise UsageError(f"run {run.id} has no parts with pages of their own")

    def most_actions(self, store: Store, run: Run) -> int:
        """The largest number of actions for which failures are worth analysing."""
        return MOST_ACTIONS


class PlanningRuns(RunFeature):
    """Tests of an agent on planning cases, of which there may be very many; other kinds of run extend it."""

    def summary(self, store: Store, run: Run) -> Summary:
        return summarise_stored(store.tally(run.id), run)

    def events(self, store: Store, run: Run) -> Iterator[Event]:
        for outcome in store.outcomes(run.id):
            yield CaseFinished(run.id, outcome)

    def as_json(self, settings: StoreSettings, run: Run, summary: Summary) -> dict[str, Any]:
        plain: dict[str, Any] = msgspec.to_builtins(self.result(settings, run) or summary)
        return plain

    def result(self, settings: StoreSettings, run: Run) -> msgspec.Struct | None:
        """The results of such a run besides its summary."""
        return None

    def items(self, settings: StoreSettings, home: ReportSource) -> Sequence[ReportItem] | None:
        return None

    def page(self, settings: ViewSettings, run: Run, summary: Summary, cases: CaseBundle | None) -> RunPage:
        shown = cases or bundle_of(settings, run)
        topics = break_down(settings, run.id, "topic")
        breakdowns = (topics,) if len(topics.portions) >= ENOUGH else ()
        findings, headline = self.findings(settings, run, summary), self.headline(settings, run)
        parts = planning_parts(summary, findings, breakdowns, shown, headline)
        return RunPage(summary, tuple(parts), shown)

    def headline(self, settings: ViewSettings, run: Run) -> Markup | None:
        """What the page begins with, if not with the success rate."""
        return None

    def findings(self, settings: ViewSettings, run: Run, summary: Summary) -> Iterator[Markup]:
        """Sections of the page between the counts and the cases."""
        return iter(())

    def table(self, store: Store, run: Run, subject: RowSubject) -> Table:
        return Table(CaseRow, (case_row(subject, each) for each in store.outcomes(run.id)))

    def episodes(self, store: Store, run: Run, form: Format) -> Iterator[Episode]:
        return map(episode_of_case, store.outcomes(run.id))


@dataclass
class ReportedRuns(RunFeature, Generic[R]):
    """Runs that store one report for each tool, group or task.

    `report` is the type that is stored, `row` the type of its rows in a table.
    """

    report: type[R]
    event: Callable[[str, R], Event]
    summarise: Callable[[Run, Sequence[R]], Summary]
    row: type[TableRow]
    rows: Callable[[RowSubject, R], Iterable[TableRow]]
    rules = ("tool",)

    @abstractmethod
    def item(self, report: R, home: ReportSource) -> ReportItem: ...

    def reports(self, store: Store, run: Run) -> list[R]:
        return store.tool_documents(run.id, self.report)

    def summary(self, store: Store, run: Run) -> Summary:
        return self.summarise(run, self.reports(store, run))

    def events(self, store: Store, run: Run) -> Iterator[Event]:
        for report in self.reports(store, run):
            yield self.event(run.id, report)

    def items(self, settings: StoreSettings, home: ReportSource) -> Sequence[ReportItem]:
        """In the order of the run, since reports are stored in random order."""
        with Store(settings.store) as store:
            reports = sorted(self.reports(store, home.run), key=lambda report: report.place)
        return self.items_of(reports, home)

    def items_of(self, reports: list[R], home: ReportSource) -> Sequence[ReportItem]:
        return [self.item(report, home) for report in reports]

    def table(self, store: Store, run: Run, subject: RowSubject) -> Table:
        reports = self.reports(store, run)
        return Table(self.row, (row for each in reports for row in self.rows(subject, each)))

    def episodes(self, store: Store, run: Run, form: Format) -> Iterator[Episode]:
        raise UsageError(
            f"run {run.id} is one of {run.purpose.command}, which has no agent transcripts",
            f"--format {form} supports planning and benchmark runs; csv and parquet support all",
        )
