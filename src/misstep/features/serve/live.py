"""Sends the progress of a run to browsers."""

import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from misstep.core.outcome import JUDGEMENTS
from misstep.core.results.summary import Summary, Tally
from misstep.core.settings import StoreSettings
from misstep.core.spending import Budget, Cost, Pace
from misstep.errors import StoreError, UsageError
from misstep.rendering.terminal import duration, percent, spending_in_words
from misstep.rendering.text import plain_lines
from misstep.runs.budget import pricing
from misstep.runs.lookup import find_run, is_live, summary_of
from misstep.runs.summary import summarise_stored
from misstep.store.runs import Run, Store
from misstep.web.pages import complain


class RunProgress(msgspec.Struct, frozen=True):
    """The progress of a run: `done` of `total` (0 if unknown); it is `live` while a process works on it.

    It continues at `rate` per second, with that many seconds `left`, if these are known.
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


class RunWatch:
    """Reads a run of a store repeatedly, each time only what is new."""

    def __init__(
        self, settings: StoreSettings, run: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings, self._name, self._clock = settings, run, clock
        self._tally, self._last = Tally(), 0
        self._summary: Summary | None = None
        self._pace: Pace | None = None

    def look(self) -> RunProgress:
        with Store(self._settings.store) as store:
            run = store.find_run(self._name)
            summary = run.summary or self._summarise(store, run)
            live, used = is_live(store, run), _used(store, run)
        done = summary.cases
        if self._pace is None:
            self._pace = Pace(done, self._clock)
        self._pace.reach(done)
        return RunProgress(
            done=done,
            total=max(run.total, done) if run.total else 0,
            unit=run.purpose.kind.units,
            live=live,
            finished=run.summary is not None,
            summary=summary,
            used=used,
            budget=run.settings.budget,
            rate=self._pace.rate if live else None,
            left=self._pace.left(run.total) if live and run.total > done else None,
        )

    def _summarise(self, store: Store, run: Run) -> Summary:
        if run.purpose.kind.has_cases:
            news, self._last = store.tally_since(run.id, self._last)
            self._tally += news
            return summarise_stored(self._tally, run)
        if self._summary is None or self._summary.cases != run.done:
            self._summary = summary_of(store, run)
        return self._summary


def _used(store: Store, run: Run) -> Cost:
    spent = store.spent(run.id)
    try:
        price = pricing(run.settings)
        usd = sum(price(role, usage) for role, usage in spent.usage.items())
    except UsageError:
        usd = 0.0  # the price list no longer exists
    return Cost(usd, spent.tokens, spent.seconds, spent.calls)


PAUSE = 1.0  # minimum seconds between two reads
SHARE = 20  # pause after a read, as a multiple of the time that the read took
NAP = 0.1  # seconds until the end of the server is noticed
RETRY = 2_000  # milliseconds after which a browser reconnects


class RunEvents:
    """Server-sent events: `progress` repeatedly, `done` at the end, `trouble` with the store."""

    def __init__(self, settings: StoreSettings, stopping: Callable[[], bool]) -> None:
        self._settings, self._stopping = settings, stopping

    async def follow(self, request: Request) -> Response:
        name = request.path_params["run"]
        try:
            run = await run_in_threadpool(find_run, self._settings, name)
        except (UsageError, StoreError) as error:
            return complain(request, 404, error.message)
        events = self._events(RunWatch(self._settings, run.id))
        return StreamingResponse(events, media_type="text/event-stream")

    async def _events(self, watch: RunWatch) -> AsyncIterator[bytes]:
        yield f"retry: {RETRY}\n\n".encode()
        while not self._stopping():
            began = time.monotonic()
            try:
                progress = await run_in_threadpool(watch.look)
            except (StoreError, UsageError) as error:
                yield event("trouble", {"said": plain_lines(str(error))})
            else:
                yield event("progress", told(progress))
                if progress.finished:
                    yield event("done", {})
                    return
            until = time.monotonic() + max(PAUSE, SHARE * (time.monotonic() - began))
            while time.monotonic() < until and not self._stopping():
                await anyio.sleep(NAP)


def event(name: str, data: dict[str, Any]) -> bytes:
    """An event; its data is JSON, and so one line."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))


def told(progress: RunProgress) -> dict[str, Any]:
    summary, is_known = progress.summary, progress.summary.success is not None
    low, high = summary.interval
    return {
        "done": progress.done,
        "total": progress.total,
        "live": progress.live,
        "finished": progress.finished,
        "verdicts": {verdict: getattr(summary, verdict) for verdict in JUDGEMENTS},
        "success": percent(summary.success) if is_known else "",
        "interval": f"{percent(low)} to {percent(high)}" if is_known else "",
        "rate": f"{progress.rate:,.2g} {progress.unit}/s" if progress.rate else "",
        "left": f"{duration(progress.left)} left" if progress.left is not None else "",
        "spent": spending_in_words(progress.used, progress.budget),
    }
