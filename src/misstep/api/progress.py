"""How far a run is, for whoever watches it."""

import time
from collections.abc import Callable

import msgspec

from misstep.api.budgets import pricing
from misstep.api.runs import is_live, summary_of
from misstep.api.summaries import summarise_stored
from misstep.core.pace import Pace
from misstep.core.run_spec import BENCHMARKS, ON_TOOLS, UNITS
from misstep.core.settings import Settings
from misstep.core.spending import Budget, Cost
from misstep.core.summary import Summary, Tally
from misstep.errors import UsageError
from misstep.store.runs import Run, Store


class Progress(msgspec.Struct, frozen=True):
    """A run so far. `done` of `total`, which is 0 where nobody knows; somebody is at it while it is `live`.

    It goes on at `rate` a second, and so has as many seconds `left`, where that can be told.
    """

    done: int
    total: int
    unit: str
    live: bool
    finished: bool
    summary: Summary
    used: Cost
    budget: Budget
    rate: float | None
    left: float | None


class Watch:
    """Looks at a run of a store as often as it is asked to, each time only at what has come since."""

    def __init__(self, settings: Settings, run: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._name, self._clock = settings, run, clock
        self._tally, self._last = Tally(), 0
        self._summary: Summary | None = None
        self._pace: Pace | None = None

    def look(self) -> Progress:
        with Store(self._settings.store) as store:
            run = store.find_run(self._name)
            summary = run.summary or self._summarise(store, run)
            return self._progress(run, is_live(store, run), summary, _used(store, run))

    def _progress(self, run: Run, live: bool, summary: Summary, used: Cost) -> Progress:
        done = summary.cases
        if self._pace is None:
            self._pace = Pace(done, self._clock)
        self._pace.reach(done)
        return Progress(
            done=done,
            total=max(run.total, done) if run.total else 0,
            unit=UNITS.get(run.purpose.verb, "cases"),
            live=live,
            finished=run.summary is not None,
            summary=summary,
            used=used,
            budget=run.settings.budget,
            rate=self._pace.rate if live else None,
            left=self._pace.left(run.total) if live and run.total > done else None,
        )

    def _summarise(self, store: Store, run: Run) -> Summary:
        if run.purpose.verb not in (*ON_TOOLS, *BENCHMARKS):
            news, self._last = store.tally_since(run.id, self._last)
            self._tally += news
            return summarise_stored(self._tally, run)
        if self._summary is None or self._summary.cases != run.done:
            self._summary = summary_of(store, run)
        return self._summary


def _used(store: Store, run: Run) -> Cost:
    """What all sittings have used so far."""
    spent = store.spent(run.id)
    try:
        price = pricing(run.settings)
        usd = sum(price(role, usage) for role, usage in spent.usage.items())
    except UsageError:
        usd = 0.0  # the list of prices has gone since
    return Cost(usd, spent.tokens, spent.seconds, spent.calls)
