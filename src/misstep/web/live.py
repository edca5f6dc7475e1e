"""Sends the progress of a run to browsers."""

import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from misstep.api.progress import Progress, Watch
from misstep.api.runs import find_run
from misstep.core.settings import Settings
from misstep.core.verdict import JUDGEMENTS
from misstep.errors import StoreError, UsageError
from misstep.report.estimate import duration
from misstep.report.spending import spending_in_words
from misstep.report.terminal import percent
from misstep.report.text import plain_lines
from misstep.web.complaints import complain

PAUSE = 1.0  # seconds between two looks, at least
SHARE = 20  # of the time that a look takes, for whatever else there is to do
NAP = 0.1  # seconds within which the end of the server is noticed
RETRY = 2_000  # milliseconds after which a browser comes again


class RunEvents:
    """Server-sent events: `progress` again and again, `done` at the end, `trouble` with the store."""

    def __init__(self, settings: Settings, stopping: Callable[[], bool]) -> None:
        self._settings, self._stopping = settings, stopping

    async def follow(self, request: Request) -> Response:
        name = request.path_params["run"]
        try:
            run = await run_in_threadpool(find_run, self._settings, name)
        except (UsageError, StoreError) as error:
            return complain(request, 404, error.message)
        events = self._events(Watch(self._settings, run.id))
        return StreamingResponse(events, media_type="text/event-stream")

    async def _events(self, watch: Watch) -> AsyncIterator[bytes]:
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
            await self._rest(max(PAUSE, SHARE * (time.monotonic() - began)))

    async def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self._stopping():
            await anyio.sleep(NAP)


def event(name: str, data: dict[str, Any]) -> bytes:
    """An event with data that is JSON, and so one line."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))


def told(progress: Progress) -> dict[str, Any]:
    """What a page shows of it."""
    summary = progress.summary
    low, high = summary.interval
    return {
        "done": progress.done,
        "total": progress.total,
        "live": progress.live,
        "finished": progress.finished,
        "verdicts": {verdict: getattr(summary, verdict) for verdict in JUDGEMENTS},
        "success": percent(summary.success) if summary.success is not None else "",
        "interval": f"{percent(low)} to {percent(high)}" if summary.success is not None else "",
        "rate": f"{progress.rate:,.2g} {progress.unit}/s" if progress.rate else "",
        "left": f"{duration(progress.left)} left" if progress.left is not None else "",
        "spent": spending_in_words(progress.used, progress.budget),
    }
