"""One session of a run on tools or tasks, from its start or resumption to its end or interruption."""

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Generic, TypeAlias

from msgspec import structs

from misstep.core.event import (
    Event,
    ItemStarted,
    Listener,
    Notice,
    RunFinished,
    RunStarted,
    RunStopped,
    Spending,
)
from misstep.core.model import ModelError
from misstep.core.outcome import JUDGEMENTS, Judgement
from misstep.core.results.summary import Summary
from misstep.core.run import Unit
from misstep.core.settings import store_flag
from misstep.core.spending import RateLimiters
from misstep.errors import BudgetExceeded, Interrupted, MisstepError, UsageError
from misstep.runs.budget import FLAGS, RunBudget, pricing, spent_of
from misstep.runs.execution import mask_error, masked
from misstep.runs.summary import R, UnitReport
from misstep.store.runs import Run, RunWriter, Store

PAUSE = 1.0  # seconds


@contextmanager
def ticking(do: Callable[[], object], pause: float = PAUSE) -> Iterator[None]:
    """Call `do` after each pause, in its own thread, and once more at the end.

    It stops at the first error, which is raised when the work is done; an error in the work itself takes
    precedence.
    """
    over, wrong = threading.Event(), list[Exception]()

    def tick() -> None:
        try:
            while not over.wait(pause):
                do()
        except Exception as error:
            wrong.append(error)

    thread = threading.Thread(target=tick, name="ticking", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if wrong:
        raise wrong[0]
    do()


Summarise: TypeAlias = Callable[[Run, Sequence[R]], Summary]


class ToolRunSession(Generic[R]):
    """Stores the report on each tool, tells listeners, and closes the run when all is done.

    `kept` are the reports so far by the names of the tools. `lost` are specs whose tools can't be loaded any
    more, and why; the work fills it. Secrets are masked. Sessions with the same `rate_limiters` share the
    rate limits of models.
    """

    def __init__(
        self,
        store: Store,
        run: Run,
        listeners: Sequence[Listener],
        kind: type[R],
        summarise: Summarise[R],
        rate_limiters: RateLimiters | None = None,
    ) -> None:
        # It was started here or may be resumed, so the price list that it names may be read.
        self.run = structs.replace(run, settings=run.settings.overlay({"trust_store": True}))
        budget, spent, price = run.settings.budget, store.spent(run.id), pricing(run.settings)
        self.run_budget = RunBudget(budget, spent, price, rate_limiters=rate_limiters)
        self.kept: dict[str, R] = {report.name: report for report in store.tool_documents(run.id, kind)}
        self.lost: Mapping[str, str] = {}
        self._store = store
        self._listeners = listeners
        self._summarise: Summarise[R] = summarise
        self._telling = threading.Lock()

    @property
    def done(self) -> list[R]:
        return [report for report in self.kept.values() if report.ended != "stopped"]

    def hold(
        self,
        work: Callable[[], Generator[R | Event]],
        finished: Callable[[R], Event],
        unit: Unit = "tool",
        least: int = 1,
    ) -> None:
        """Take reports to store and events from the work. `finished` makes the event for a final report.

        Raises an error that says how to resume, if there is more to do or there are not even the `least`
        reports.
        """
        run = self.run
        with self._store.sit(run.id, time.time()) as writer:
            self._store.change_run(run.id, run.settings)  # a larger budget is stored with the run
            before = self._summarise(run, self.done)
            verdicts: dict[Judgement, int] = {name: getattr(before, name) for name in JUDGEMENTS}
            self.emit(RunStarted(run.id, run.total, verdicts, unit=unit))
            try:
                with ticking(lambda: self.emit(Spending(run.id, self.run_budget.used, run.settings.budget))):
                    self._take_in(work, writer, finished)
                self._finish(least)
            except Exception as error:
                self._tell_of(error)
                raise

    def emit(self, event: Event) -> None:
        """Tell listeners, one event at a time, from any thread: working threads send notices."""
        clean = masked(event)
        with self._telling:
            for listener in self._listeners:
                listener(clean)

    def start(self, name: str, origin: str = "") -> None:
        """Tell listeners that work on a tool, group or task starts."""
        self.emit(ItemStarted(self.run.id, name, origin))

    def notice(self, text: str) -> None:
        self.emit(Notice(text))

    def _take_in(
        self, work: Callable[[], Generator[R | Event]], writer: RunWriter, finished: Callable[[R], Event]
    ) -> None:
        try:
            with closing(work()) as news:
                for each in news:
                    if not isinstance(each, UnitReport):
                        self.emit(each)
                        continue
                    report = masked(each)
                    self.kept[report.name] = report
                    writer.keep_report(report, self.run_budget.spent)
                    if report.ended != "stopped":
                        self.emit(finished(report))
        finally:
            writer.keep([], self.run_budget.spent)  # also for work without a result

    def _tell_of(self, error: Exception) -> None:
        """Report what has ended the run, and how to resume it if the user did not cause it."""
        if isinstance(error, MisstepError):
            mask_error(error)
        if isinstance(error, ModelError):
            hints = self._ways_on() if self.kept else self._ways_on()[1:]
            error.hints += hints
        with suppress(MisstepError):  # perhaps from the listener that ended the run
            reason = error.message if isinstance(error, MisstepError) else type(error).__name__
            self.emit(RunStopped(self.run.id, reason))

    def _finish(self, least: int) -> None:
        run = self.run
        if len(self.done) < (run.total or len(self.kept) or least):
            raise self._stopped()
        summary = self._summarise(run, sorted(self.kept.values(), key=lambda report: report.place))
        self._store.finish_run(run.id, summary)
        self.emit(RunFinished(run.id, summary))

    def _stopped(self) -> MisstepError:
        run, lacking = self.run, self.run_budget.lacking
        show, way_on = self._ways_on()
        for spec, why in {} if lacking else self.lost.items():
            return UsageError(f"{why}; findings are stored", show, way_on, where=spec)
        if not lacking:
            return Interrupted(f"run {run.id} was stopped; findings are stored", show, way_on)
        used = spent_of(lacking, run.settings, self._store.spent(run.id))
        return BudgetExceeded(f"the budget is exhausted: {used}", show, f"{way_on} {FLAGS[lacking]} MORE")

    def _ways_on(self) -> tuple[str, str]:
        run, place = self.run, store_flag(self._store.location)
        show = f"show findings: misstep show {run.id}{place}"
        return show, f"resume with: misstep {run.purpose.command} --resume {run.id}{place}"
