"""The budget of a run: says whether another case may start, and when everything has to stop."""

import time
from collections.abc import Callable
from math import sqrt

from misstep.core.spending import Budget, Cost, Spent
from misstep.core.transcript import Usage
from misstep.engine.budget import BudgetTracker, Pricing

FEW = 4  # cases that say little about what others may come to
UNSEEN = 2.0  # margin on a mere guess


class Purse(BudgetTracker):
    """Says whether there is budget left for another case, and counts what each uses while it runs.

    A case starts only if the budget would last even if it, and every case in flight, turned out as dear as
    the dearest so far, and dearer by a margin while little is known. Before there has been any, `guess`
    stands in for it, and one case alone may find out.
    Should the budget be overdrawn all the same, `overdrawn` is called once, in whatever thread that happens.
    """

    def __init__(
        self,
        budget: Budget,
        price: Pricing,
        before: Spent,
        guess: Cost,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(budget, before, price, clock)
        self._limited = bool(budget)
        self._dearest = guess
        self._cheapest = Cost()
        self._seen = 0  # cases that have shown what one comes to
        self._unproven = not before.calls and not before.tokens
        if not self._unproven:
            self._seen = FEW
        self._flying = set["CaseAccount"]()
        self._settled = Cost(self._usd, before.tokens, 0.0, before.calls)  # by cases that are over
        self.overdrawn: Callable[[], None] | None = None

    def admit(self) -> bool:
        """Whether another case may start."""
        if not self._limited:
            return True
        with self._lock:
            lacking = self._lacking()
            if lacking and self._unproven and not self._flying and not self._exceeded():
                return True
            self.lacking = lacking
            return not lacking

    def run_out_of_time(self) -> None:
        self.lacking = "seconds"

    def open(self) -> "CaseAccount":
        account = CaseAccount(self)
        if self._limited:
            with self._lock:
                self._flying.add(account)
        return account

    def _lacking(self) -> str:
        """The first thing of which another case would need more than there is."""
        needed = {
            kind: getattr(self._settled, kind) + self._reserve(kind) for kind in ("usd", "tokens", "calls")
        }
        return self._over({**needed, "seconds": self._elapsed() + self._dearest.seconds})

    def _reserve(self, kind: str) -> float:
        """What the cases in flight and one more may come to.

        Several at a time need a margin, the more of it the less is known: they may all turn out dearer than
        any before. The last cases within a budget run one by one, and without.
        """
        dearest, cheapest = getattr(self._dearest, kind), getattr(self._cheapest, kind)
        if not self._flying:
            return float(dearest)
        spread = 1.0 if self._seen < FEW else 1 - cheapest / dearest if dearest else 0.0
        margin = spread / sqrt(self._seen) if self._seen else UNSEEN
        return float((len(self._flying) + 1) * dearest * (1 + margin))

    def count_call(self, account: "CaseAccount") -> None:
        with self._lock:
            self._calls += 1
            account.calls += 1
            alarm = self._watch(account, Cost(calls=1)) if self._limited else None
        if alarm:
            alarm()

    def count_tokens(self, account: "CaseAccount", role: str, usage: Usage) -> None:
        with self._lock:
            cost, tokens = self._add_tokens(role, usage), usage.input + usage.output
            account.usd += cost
            account.tokens += tokens
            alarm = self._watch(account, Cost(cost, tokens)) if self._limited else None
        if alarm:
            alarm()

    def _watch(self, account: "CaseAccount", more: Cost) -> Callable[[], None] | None:
        """What to call now that a case has used more, if anything.

        A case that gets dearer than any before raises what others may need. Agents that can't be stopped go
        on spending when their case is over.
        """
        if account not in self._flying:
            self._settled = _sum(self._settled, more)
        self._dearest = _dearer(self._dearest, account.cost(0.0))
        if not (lacking := self._exceeded()):
            return None
        self.lacking = lacking
        alarm, self.overdrawn = self.overdrawn, None
        return alarm

    def settle(self, account: "CaseAccount", finished: bool) -> None:
        """A case is over; one that did not finish says nothing about how long cases take."""
        if not self._limited:
            return
        with self._lock:
            self._flying.discard(account)
            cost = account.cost(self._clock() - account.began if finished else 0.0)
            self._settled = _sum(self._settled, cost)
            if finished:
                self._learn(cost)

    def _learn(self, cost: Cost) -> None:
        if self._unproven:
            self._unproven = False
            self._dearest, self._cheapest = cost, cost  # no longer the guess, but what has been seen
            for other in self._flying:
                self._dearest = _dearer(self._dearest, other.cost(0.0))
        self._seen += 1
        self._dearest = _dearer(self._dearest, cost)
        self._cheapest = _cheaper(self._cheapest, cost)

    def now(self) -> float:
        return self._clock()


class CaseAccount:
    """What one case has used so far; it is closed when the case is over."""

    def __init__(self, purse: Purse) -> None:
        self._purse = purse
        self.began = purse.now()
        self.usd = 0.0
        self.tokens = 0
        self.calls = 0

    def cost(self, seconds: float) -> Cost:
        return Cost(self.usd, self.tokens, seconds, self.calls)

    def spend(self, role: str, usage: Usage) -> None:
        self._purse.count_tokens(self, role, usage)

    def call(self) -> None:
        self._purse.count_call(self)

    def close(self, finished: bool) -> None:
        self._purse.settle(self, finished)


def _dearer(one: Cost, other: Cost) -> Cost:
    return Cost(*[max(getattr(one, kind), getattr(other, kind)) for kind in Cost.__struct_fields__])


def _cheaper(one: Cost, other: Cost) -> Cost:
    return Cost(*[min(getattr(one, kind), getattr(other, kind)) for kind in Cost.__struct_fields__])


def _sum(one: Cost, other: Cost) -> Cost:
    return Cost(*[getattr(one, kind) + getattr(other, kind) for kind in Cost.__struct_fields__])
