"""The time limit of one attempt."""

import asyncio
import math
from types import TracebackType
from typing import Self

LONGEST = 3600.0


class Deadline:
    """Cancels what runs inside it when time is up. It can be put off or brought forward from any thread."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._extended = 0.0
        self._running = False

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
        """Whether time is up, even for something that swallowed the cancellation or never let us look."""
        return self._limit.expired() or self._loop.time() - self._began > self._seconds

    def extend(self, seconds: float) -> None:
        """Put the end off, by an hour at most: nobody may put it off for ever."""
        if not math.isfinite(seconds):
            return
        self._seconds += min(seconds, LONGEST - self._extended)
        self._extended = min(LONGEST, self._extended + seconds)
        if self._running:
            self._loop.call_soon_threadsafe(self._reschedule, self._began + self._seconds)

    def strike(self) -> None:
        """Time is up now."""
        if self._running:
            self._loop.call_soon_threadsafe(self._reschedule, self._loop.time())

    def _reschedule(self, when: float) -> None:
        if self._running and not self._limit.expired():
            self._limit.reschedule(when)
