"""Count what a run uses and compare it with its budget."""

import threading
import time
from collections.abc import Callable, Mapping

from misstep.core.spending import Budget, Cost, Spent
from misstep.core.transcript import Usage

Pricing = Callable[[str, Usage], float]  # dollars for the tokens of a role


class BudgetTracker:
    """What a run has used of its budget, over all its sessions; told and asked from any thread.

    Exactly as much as the budget says may be used: it is exceeded by whatever goes beyond. `lacking` names
    the first thing of which more was used, or is wanted, than allowed. It is an `Account`.
    """

    def __init__(
        self,
        budget: Budget,
        before: Spent,
        price: Pricing = lambda *_: 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._budget = budget
        self._before = before
        self._price = price
        self._clock = clock
        self._began = clock()
        self._lock = threading.RLock()
        self._usage = dict[str, Usage]()
        self._calls = 0
        self._tokens = before.tokens
        self._usd = sum(price(role, usage) for role, usage in before.usage.items())
        self._stopped = False
        self.lacking = ""

    @property
    def spent(self) -> Spent:
        """What this session has used so far."""
        with self._lock:
            return Spent(dict(self._usage), self._calls, self._clock() - self._began)

    @property
    def used(self) -> Cost:
        """What all sessions have used so far."""
        with self._lock:
            return Cost(self._usd, self._tokens, self._elapsed(), self._before.calls + self._calls)

    @property
    def seconds_left(self) -> float | None:
        limit = self._budget.seconds
        return None if limit is None else max(0.0, limit - self._elapsed())

    def spend(self, role: str, usage: Usage) -> None:
        """Count tokens."""
        with self._lock:
            self._add_tokens(role, usage)
            self._note_excess()

    def call(self) -> None:
        """Count a call that nobody asked permission for."""
        with self._lock:
            self._calls += 1
            self._note_excess()

    def reserve_calls(self, wanted: int, least: int = 1) -> int:
        """How many of `wanted` calls may be made now, 0 if fewer than `least`; they count as made."""
        with self._lock:
            limit = self._budget.calls
            granted = wanted if limit is None else min(wanted, limit - self._before.calls - self._calls)
            if self.is_over() or granted < least:
                self.lacking = self.lacking or ("" if self._stopped else "calls")
                return 0
            self._calls += granted
            return granted

    def give_back(self, calls: int) -> None:
        """Uncount calls that were reserved and not made."""
        with self._lock:
            self._calls -= calls

    def stop(self) -> None:
        """Ask everybody to stop at once."""
        self._stopped = True

    def is_over(self) -> bool:
        """Whether everybody has to stop at once: `stop` was called, or anything but calls is exceeded."""
        with self._lock:
            self._note_excess()
            return self._stopped or self.lacking in ("seconds", "tokens", "usd")

    def _add_tokens(self, role: str, usage: Usage) -> float:
        cost = self._price(role, usage)
        self._usage[role] = self._usage.get(role, Usage()) + usage
        self._usd += cost
        self._tokens += usage.input + usage.output
        return cost

    def _note_excess(self) -> None:
        self.lacking = self.lacking or self._exceeded() or self._over({"seconds": self._elapsed()})

    def _exceeded(self) -> str:
        """The first of dollars, tokens and calls of which more is used than allowed."""
        calls = self._before.calls + self._calls
        return self._over({"usd": self._usd, "tokens": self._tokens, "calls": calls})

    def _over(self, used: Mapping[str, float]) -> str:
        for kind, amount in used.items():
            limit = getattr(self._budget, kind)
            if limit is not None and amount > limit:
                return kind
        return ""

    def _elapsed(self) -> float:
        return self._before.seconds + self._clock() - self._began
