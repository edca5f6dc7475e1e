"""The time limit of one attempt."""

import asyncio
import math
import threading
from types import TracebackType
from typing import Self

LONGEST = 3600.0


class Deadline:
    """Cancels what runs inside it when time is up. It can be put off or brought forward from any thread."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._extended = 0.0
        self._struck = False
        self._running = False
        self._lock = threading.Lock()

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._limit = asyncio.timeout(self._seconds)
        await self._limit.__aenter__()
        self._running = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running = False
        await self._limit.__aexit__(kind, error, trace)

    @property
    def passed(self) -> bool:
        """Whether time is up, even for something that never let us look."""
        return self._limit.expired() or self._loop.time() - self._began > self._seconds

    def extend(self, seconds: float) -> None:
        """Put the end off, by an hour in all at most: nobody may put it off for ever.

        Less than nothing gives back what was taken too much.
        """
        if not math.isfinite(seconds):
            return
        with self._lock:
            before, self._extended = self._extended, max(0.0, min(LONGEST, self._extended + seconds))
            self._seconds += self._extended - before
        self._reschedule()

    def strike(self) -> None:
        """Time is up now, whatever is put off later."""
        self._struck = True
        self._reschedule()

    def _reschedule(self) -> None:
        def do() -> None:
            if self._running and not self._limit.expired():
                self._limit.reschedule(self._loop.time() if self._struck else self._began + self._seconds)

        if self._running:
            self._loop.call_soon_threadsafe(do)
