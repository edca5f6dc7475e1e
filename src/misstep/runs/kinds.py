"""What the rest of the program asks of a kind of run, and the feature that answers for it.

`core.run.KINDS` lists the kinds. Each names its feature, whose module `kind` holds a `FEATURE`. Listing,
showing, comparing, exporting and reporting go through that and know no kind by its name.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from misstep.core.case import MOST_ACTIONS
from misstep.core.event import Event
from misstep.core.results.comparison import Comparison, Held, TaskComparison
from misstep.core.results.report import Format, ReportItem
from misstep.core.results.summary import Summary
from misstep.core.run import RunSpec
from misstep.core.settings import Settings
from misstep.store.runs import Run, Store

if TYPE_CHECKING:  # a short run needs none of these
    from misstep.interop.episodes import Episode
    from misstep.interop.tables import RowSubject, Table
    from misstep.rendering.html.cases import CaseBundle
    from misstep.rendering.html.page import RunPage
    from misstep.runs.reporting.items import ReportSource


class RunFeature(ABC):
    """Reads, sums up and reports the stored runs of one kind, finished or not."""

    rules: tuple[str, ...] = ("plan",)  # families of rules that such a run may find broken
    has_curve = False  # whether capability curves can be shown beside it

    @abstractmethod
    def summary(self, store: Store, run: Run) -> Summary:
        """What a run that has not ended has come to so far."""

    @abstractmethod
    def events(self, store: Store, run: Run) -> Iterator[Event]:
        """What listeners heard of its cases, tools or tasks."""

    @abstractmethod
    def as_json(self, settings: Settings, run: Run, summary: Summary) -> dict[str, Any]:
        """The object that `--json` prints."""

    @abstractmethod
    def items(self, settings: Settings, home: "ReportSource") -> Sequence[ReportItem] | None:
        """The items of a report; None where there may be more than fit into memory, one for each case."""

    @abstractmethod
    def page(self, settings: Settings, run: Run, summary: Summary, cases: "CaseBundle | None") -> "RunPage":
        """Its HTML page; `cases` are given where a server sends them one by one."""

    @abstractmethod
    def table(self, store: Store, run: Run, subject: "RowSubject") -> "Table":
        """Its rows; they come while the store is open."""

    @abstractmethod
    def episodes(self, store: Store, run: Run, form: Format) -> "Iterator[Episode]":
        """What an agent did in it; a `UsageError` where no agent was tested."""

    @abstractmethod
    def compare(self, settings: Settings, first: str, second: str) -> Comparison | TaskComparison:
        """The second run against the first."""

    @abstractmethod
    def hold(self, settings: Settings, baseline: str, run: str) -> Held:
        """A run against its baseline; a `UsageError` where they have nothing in common."""

    def most_actions(self, store: Store, run: Run) -> int:
        """The size of the largest cases whose failures are worth looking into."""
        return MOST_ACTIONS


def feature_of(purpose: RunSpec) -> RunFeature:
    feature: RunFeature = import_module(f"{purpose.kind.feature}.kind").FEATURE
    return feature
