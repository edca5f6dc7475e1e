"""The interface of a kind of run, and how to find the feature that implements it.

`core.run.KINDS` lists the kinds. Each names its feature, whose module `kind` holds a `FEATURE`. Listing,
showing, comparing, exporting and reporting use only this interface.
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
from misstep.core.settings import StoreSettings, ViewSettings
from misstep.errors import UsageError
from misstep.store.runs import Run, Store

if TYPE_CHECKING:  # a short run needs none of these
    from misstep.interop.episodes import Episode
    from misstep.interop.tables import RowSubject, Table
    from misstep.rendering.html.cases import CaseBundle
    from misstep.rendering.html.page import PartPage, RunPage
    from misstep.runs.reporting.items import ReportSource


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
    def items(self, settings: StoreSettings, home: "ReportSource") -> Sequence[ReportItem] | None:
        """The items of a report; None if there is one for each case, which may not fit into memory."""

    @abstractmethod
    def page(
        self, settings: ViewSettings, run: Run, summary: Summary, cases: "CaseBundle | None"
    ) -> "RunPage":
        """Its HTML page; `cases` are given if a server sends them one by one."""

    @abstractmethod
    def table(self, store: Store, run: Run, subject: "RowSubject") -> "Table":
        """Its rows; read them while the store is open."""

    @abstractmethod
    def episodes(self, store: Store, run: Run, form: Format) -> "Iterator[Episode]":
        """What an agent did in it; a `UsageError` if no agent was tested."""

    @abstractmethod
    def compare(self, settings: StoreSettings, first: str, second: str) -> Comparison | TaskComparison:
        """Compare the second run with the first."""

    @abstractmethod
    def hold(self, settings: StoreSettings, baseline: str, run: str) -> Held:
        """Compare a run with its baseline; a `UsageError` if they have nothing in common."""

    def part_page(self, settings: ViewSettings, run: Run, name: str) -> "PartPage":
        """The page of one part, by its id; a `UsageError` if there is no such part."""
        raise UsageError(f"run {run.id} has no parts with pages of their own")

    def most_actions(self, store: Store, run: Run) -> int:
        """The largest number of actions for which failures are worth analysing."""
        return MOST_ACTIONS


def feature_of(purpose: RunSpec) -> RunFeature:
    feature: RunFeature = import_module(f"{purpose.kind.feature}.kind").FEATURE
    return feature
