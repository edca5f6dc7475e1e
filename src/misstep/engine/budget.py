"""Counts what a run uses, compares it with the budget, and decides whether another case may start."""

import threading
import time
from collections.abc import Callable, Mapping
from math import sqrt
from operator import add

import msgspec

from misstep.core.outcome import Usage
from misstep.core.spending import Budget, Cost, Spent

Pricing = Callable[[str, Usage], float]  # dollars for the tokens of a role
Clock = Callable[[], float]  # seconds


class BudgetTracker:
    """What a run has used of its budget, over all its sessions; safe to use from any thread.

    The budget may be used up exactly; anything beyond exceeds it. `lacking` names the first resource of which
    more was used, or is needed, than allowed. It is an `Account`.
    """

    def __init__(
        self, budget: Budget, before: Spent, price: Pricing = lambda *_: 0.0, clock: Clock = time.monotonic
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
        with self._lock:
            self._add_tokens(role, usage)
            self._note_excess()

    def call(self, calls: int = 1) -> None:
        """Count calls that were not reserved; fewer than none were reserved elsewhere and not made."""
        with self._lock:
            self._calls += calls
            self._note_excess()

    def reserve_calls(self, wanted: int, least: int = 1) -> int:
        """How many of `wanted` calls may be made now, 0 if fewer than `least`; they are counted at once."""
        with self._lock:
            limit = self._budget.calls
            granted = wanted if limit is None else min(wanted, limit - self._before.calls - self._calls)
            if self.is_over() or granted < least:
                self.lacking = self.lacking or ("" if self._stopped else "calls")
                return 0
            self._calls += granted
            return granted

    def give_back(self, calls: int) -> None:
        """Uncount reserved calls that were not made."""
        with self._lock:
            self._calls -= calls

    def stop(self) -> None:
        self._stopped = True

    def is_over(self) -> bool:
        """Whether everything has to stop: `stop` was called, or anything but calls is exceeded."""
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
        """The first of dollars, tokens and calls that exceeds the budget."""
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


FEW = 4  # with fewer cases, little is known about the cost of others
UNSEEN = 2.0  # margin before any case has finished


class CaseBudget(BudgetTracker):
    """Decides whether the budget allows another case, and counts what each case uses while it runs.

    A case starts only if the budget would last even if it and every case in flight cost as much as the most
    expensive case so far, plus a margin while little is known. Before the first case has finished, `guess` is
    used instead, and a single case may always run to find out. If the budget is exceeded anyway, `overdrawn`
    is called once, in the thread in which it happens.
    """

    def __init__(
        self, budget: Budget, price: Pricing, before: Spent, guess: Cost, clock: Clock = time.monotonic
    ) -> None:
        super().__init__(budget, before, price, clock)
        self._limited = bool(budget)
        self._dearest = guess
        self._cheapest = Cost()
        self._unproven = not before.calls and not before.tokens
        self._seen = 0 if self._unproven else FEW  # finished cases
        self._flying = set["CaseAccount"]()
        self._settled = Cost(self._usd, before.tokens, 0.0, before.calls)  # used by finished cases
        self.overdrawn: Callable[[], None] | None = None

    def admit(self) -> bool:
        if not self._limited:
            return True
        with self._lock:
            kinds = ("usd", "tokens", "calls")
            needed = {kind: getattr(self._settled, kind) + self._reserve(kind) for kind in kinds}
            lacking = self._over({**needed, "seconds": self._elapsed() + self._dearest.seconds})
            if lacking and self._unproven and not self._flying and not self._exceeded():
                return True
            self.lacking = lacking
            return not lacking

    def run_out_of_time(self) -> None:
        self.lacking = "seconds"

    def open(self) -> "CaseAccount":
        account = CaseAccount(self, self._clock())
        if self._limited:
            with self._lock:
                self._flying.add(account)
        return account

    def _reserve(self, kind: str) -> float:
        """What the cases in flight and one more may cost together.

        Concurrent cases need a margin, larger while little is known, since all of them may cost more than any
        before. The last cases within a budget run one by one, without a margin.
        """
        dearest, cheapest = getattr(self._dearest, kind), getattr(self._cheapest, kind)
        if not self._flying:
            return float(dearest)
        spread = 1.0 if self._seen < FEW else 1 - cheapest / dearest if dearest else 0.0
        margin = spread / sqrt(self._seen) if self._seen else UNSEEN
        return float((len(self._flying) + 1) * dearest * (1 + margin))

    def charge(self, account: "CaseAccount", role: str, usage: Usage, calls: int) -> None:
        with self._lock:
            cost = self._add_tokens(role, usage) if role else 0.0
            self._calls += calls
            more = Cost(cost, usage.input + usage.output, 0.0, calls)
            account.used = _combined(add, account.used, more)
            alarm = self._watch(account, more) if self._limited else None
        if alarm:
            alarm()

    def _watch(self, account: "CaseAccount", more: Cost) -> Callable[[], None] | None:
        """The callback to call now that a case has used more, if any.

        A case that becomes the most expensive so far raises the reserve for others. Agents that can't be
        stopped keep using resources after their case is over.
        """
        if account not in self._flying:
            self._settled = _combined(add, self._settled, more)
        self._dearest = _combined(max, self._dearest, account.used)
        if not (lacking := self._exceeded()):
            return None
        self.lacking = lacking
        alarm, self.overdrawn = self.overdrawn, None
        return alarm

    def settle(self, account: "CaseAccount", finished: bool) -> None:
        """Close the account of a case; one that did not finish says nothing about how long cases take."""
        if not self._limited:
            return
        with self._lock:
            self._flying.discard(account)
            seconds = self._clock() - account.began if finished else 0.0
            cost = msgspec.structs.replace(account.used, seconds=seconds)
            self._settled = _combined(add, self._settled, cost)
            if not finished:
                return
            if self._unproven:
                self._unproven = False
                self._dearest, self._cheapest = cost, cost  # replaces the guess
                for other in self._flying:
                    self._dearest = _combined(max, self._dearest, other.used)
            self._seen += 1
            self._dearest = _combined(max, self._dearest, cost)
            self._cheapest = _combined(min, self._cheapest, cost)


class CaseAccount:
    """What one case has used so far; it is closed when the case is over."""

    def __init__(self, case_budget: CaseBudget, began: float) -> None:
        self._case_budget = case_budget
        self.began = began
        self.used = Cost()  # without the time

    def spend(self, role: str, usage: Usage) -> None:
        self._case_budget.charge(self, role, usage, 0)

    def call(self) -> None:
        self._case_budget.charge(self, "", Usage(), 1)

    def close(self, finished: bool) -> None:
        self._case_budget.settle(self, finished)


def _combined(how: Callable[[float, float], float], one: Cost, other: Cost) -> Cost:
    return Cost(*map(how, msgspec.structs.astuple(one), msgspec.structs.astuple(other)))
