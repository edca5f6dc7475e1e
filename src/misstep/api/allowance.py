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
        self._stop = threading.Event()
        self.lacking = ""  # what there is not enough of, as soon as there is

    @property
    def spent(self) -> Spent:
        """What this sitting has used so far."""
        return Spent({}, self._calls, self._clock() - self._began)

    @property
    def stopped(self) -> bool:
        return self._stop.is_set() or bool(self.lacking)

    def stop(self) -> None:
        """Let everybody come to an end."""
        self._stop.set()

    def admit(self, wanted: int) -> int:
        """How many of so many calls may be made now; they count as made."""
        with self._lock:
            total = self._before + self.spent
            if self._budget.seconds is not None and total.seconds >= self._budget.seconds:
                self.lacking = "seconds"
            granted = wanted
            if self._budget.calls is not None:
                granted = min(wanted, self._budget.calls - total.calls)
                self.lacking = self.lacking or ("calls" if granted <= 0 else "")
            if self.stopped:
                return 0
            self._calls += granted
            return granted

    def give_back(self, calls: int) -> None:
        """Take back calls that were not made after all."""
        with self._lock:
            self._calls -= calls
