"""What a run on tools may still use up, shared by all who work on it."""

import threading
import time
from collections.abc import Callable

from misstep.core.spending import Budget, Spent


class Allowance:
    """Calls and time that are left of a run's budget, over all its sittings; asked from any thread."""

    def __init__(self, budget: Budget, before: Spent, clock: Callable[[], float] = time.monotonic) -> None:
        self._budget = budget
        self._before = before
        self._clock = clock
        self._began = clock()
        self._calls = 0
        self._lock = threading.Lock()
        self._stopped = False
        self.lacking = ""  # what there is not enough of, as soon as there is

    @property
    def spent(self) -> Spent:
        """What this sitting has used so far."""
        return Spent({}, self._calls, self._clock() - self._began)

    def is_over(self) -> bool:
        """Whether everybody has to stop at once: somebody wants that, or time is up."""
        limit = self._budget.seconds
        if limit is not None and self._before.seconds + self.spent.seconds >= limit:
            self.lacking = self.lacking or "seconds"
        return self._stopped or self.lacking == "seconds"

    def stop(self) -> None:
        """Let everybody come to an end."""
        self._stopped = True

    def admit(self, wanted: int, least: int = 1) -> int:
        """How many of so many calls may be made now, nought if fewer than `least`; they count as made."""
        with self._lock:
            limit = self._budget.calls
            granted = wanted if limit is None else min(wanted, limit - self._before.calls - self._calls)
            if self.is_over() or granted < least:
                self.lacking = self.lacking or ("" if self._stopped else "calls")
                return 0
            self._calls += granted
            return granted

    def give_back(self, calls: int) -> None:
        """Take back calls that were not made after all."""
        with self._lock:
            self._calls -= calls
