"""Implements most of `RunFeature` for runs that store one report for each tool, group or task."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from misstep.core.event import Event
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.comparison import Comparison, Held, TaskComparison
from misstep.core.results.consistency import ConsistencyReport
from misstep.core.results.crosstalk import GroupReport
from misstep.core.results.finding import ToolReport
from misstep.core.results.fixing import FixReport
from misstep.core.results.report import Format, ReportItem
from misstep.core.results.summary import Summary
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.interop.episodes import Episode
from misstep.interop.tables import RowSubject, Table, TableRow
from misstep.runs.baseline import held_of
from misstep.runs.compare import compare_runs
from misstep.runs.kinds import RunFeature
from misstep.runs.reporting.items import ReportSource
from misstep.store.runs import Run, Store

R = TypeVar("R", ToolReport, ConsistencyReport, GroupReport, FixReport, TaskReport)


class ReportedRuns(RunFeature, Generic[R]):
    """`report` is the type that is stored, `row` its row in a table."""

    report: type[R]
    row: type[TableRow]
    rules = ("tool",)

    @abstractmethod
    def event(self, run: str, report: R) -> Event: ...

    @abstractmethod
    def item(self, report: R, home: ReportSource) -> ReportItem: ...

    @abstractmethod
    def rows(self, subject: RowSubject, report: R) -> Iterable[TableRow]: ...

    @abstractmethod
    def summarise(self, run: Run, reports: Sequence[R]) -> Summary: ...

    def reports(self, store: Store, run: Run) -> list[R]:
        return store.tool_documents(run.id, self.report)

    def summary(self, store: Store, run: Run) -> Summary:
        return self.summarise(run, self.reports(store, run))

    def events(self, store: Store, run: Run) -> Iterator[Event]:
        for report in self.reports(store, run):
            yield self.event(run.id, report)

    def items(self, settings: Settings, home: ReportSource) -> Sequence[ReportItem]:
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
            f"run {run.id} is one of {run.purpose.command}, which has no episodes of an agent",
            f"--format {form} takes runs on planning and benchmarks; csv and parquet take all",
        )

    def compare(self, settings: Settings, first: str, second: str) -> Comparison | TaskComparison:
        return compare_runs(settings, first, second)

    def hold(self, settings: Settings, baseline: str, run: str) -> Held:
        return held_of(self.compare(settings, baseline, run), "case")
