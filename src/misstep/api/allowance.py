"""What a run on tools may still use up, shared by all who work on it."""

import threading
import time
from collections.abc import Callable

from misstep.core.gate import Gates
from misstep.core.spending import Budget, Cost, Spent
from misstep.core.transcript import Usage
from misstep.models.throttle import Throttles


class Allowance:
    """What is left of a run's budget, over all its sittings; asked from any thread. It is an `Account`.

    `price` says what the tokens of a role cost. `gates` keep all requests to a model within its limits.
    """

    def __init__(
        self,
        budget: Budget,
        before: Spent,
        price: Callable[[str, Usage], float] = lambda *_: 0.0,
        clock: Callable[[], float] = time.monotonic,
        gates: Gates | None = None,
    ) -> None:
        self.gates: Gates = gates or Throttles()
        self._budget = budget
        self._before = before
        self._price = price
        self._clock = clock
        self._began = clock()
        self._calls = 0
        self._usage = dict[str, Usage]()
        self._lock = threading.Lock()
        self._stopped = False
        self.lacking = ""  # what there is not enough of, as soon as there is

    @property
    def spent(self) -> Spent:
        """What this sitting has used so far."""
        return Spent(dict(self._usage), self._calls, self._clock() - self._began)

    @property
    def used(self) -> Cost:
        """What all sittings have used so far."""
        with self._lock:
            spent = self._before + self.spent
        usd = sum(self._price(*each) for each in spent.usage.items())
        return Cost(usd, spent.tokens, spent.seconds, spent.calls)

    def is_over(self) -> bool:
        """Whether everybody has to stop at once: somebody wants that, or something but calls is used up."""
        limit = self._budget.seconds
        if limit is not None and self._before.seconds + self._clock() - self._began >= limit:
            self.lacking = self.lacking or "seconds"
        return self._stopped or self.lacking in ("seconds", "tokens", "usd")

    def spend(self, role: str, usage: Usage) -> None:
        """Count tokens."""
        with self._lock:
            self._usage[role] = self._usage.get(role, Usage()) + usage
            spent = self._before + Spent(self._usage)
            used = {"tokens": spent.tokens, "usd": sum(self._price(*each) for each in spent.usage.items())}
            for kind, amount in used.items():
                limit = getattr(self._budget, kind)
                if limit is not None and amount >= limit:
                    self.lacking = self.lacking or kind

    def call(self) -> None:
        """Count a call that somebody has made unasked."""
        with self._lock:
            self._calls += 1
            limit = self._budget.calls
            if limit is not None and self._before.calls + self._calls >= limit:
                self.lacking = self.lacking or "calls"

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
