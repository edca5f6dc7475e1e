"""Tells processes that compute from processes that wait."""

import os
import time

from misstep.adapters.processes import held_up
from misstep.tool_host.serving.process_tree import ProcessTree

MUCH = 0.3  # of the time that the system let them have; the last delay of a thread is not known yet


class Gauge:
    """Measures what goes on in the sandbox from when it is made, but for the warden and whoever made it.

    On a busy machine a loop gets little of the processor. So the time for which it was kept from running is
    not counted as if it had waited.
    """

    def __init__(self, census: ProcessTree) -> None:
        self._census = census
        self._began = time.monotonic()
        self._seconds, self._delays = self._look()

    def computed(self) -> float:
        """Seconds of processor time that were used since; nought if most of the time they waited."""
        seconds, delays = self._look()
        used = seconds - self._seconds
        kept = max((delay - self._delays.get(thread, 0.0) for thread, delay in delays.items()), default=0.0)
        return used if used > max(0.0, MUCH * (time.monotonic() - self._began - kept)) else 0.0

    def _look(self) -> tuple[float, dict[tuple[int, int], float]]:
        """Seconds of processor time used by all up to now, and for how long each thread was kept from it."""
        seconds, delays = 0.0, dict[tuple[int, int], float]()
        for each in self._census.living():
            if each.pid != os.getpid():
                seconds += each.seconds
                delays |= held_up(each.pid)
        return seconds, delays
