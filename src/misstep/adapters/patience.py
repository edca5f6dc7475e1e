"""How long to wait for a process that loads somebody's code."""

import time
from collections.abc import Callable

LONGEST = 10  # times the limit: for so long it is waited for whatever makes progress
STEP = 0.05  # seconds of processor time that are progress
LOOK = 0.5  # seconds until somebody who waits looks whether to go on


class Patience:
    """How long to wait for something that should change: so many seconds from when it last did."""

    def __init__(self, limit: float, measure: Callable[[], float]) -> None:
        self._limit = limit
        self._measure = measure
        self._began = self._changed_at = time.monotonic()
        self._size = measure()

    @property
    def outcome(self) -> str:
        """What came of waiting."""
        if self._changed_at + self._limit < self._began + LONGEST * self._limit:
            return f"was not loaded: it did nothing for {self._limit:g} s"
        return f"was not loaded within {LONGEST * self._limit:g} s"

    def left(self) -> float:
        """Seconds that are left, if nothing changes."""
        now, size = time.monotonic(), self._measure()
        if abs(size - self._size) >= STEP:  # less, if a process has ended
            self._size, self._changed_at = size, now
        return min(self._changed_at + self._limit, self._began + LONGEST * self._limit) - now
