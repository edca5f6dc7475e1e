"""What a case has used, counted by the worker and reported to the budget."""

import threading

from misstep.core.spending import Account, Spent
from misstep.core.transcript import Usage


class UsageTally:
    """What one case has used so far."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told = self.spent = Spent()

    def spend(self, role: str, usage: Usage) -> None:
        self._add(Spent({role: usage}))

    def call(self) -> None:
        self._add(Spent(calls=1))

    def is_news(self) -> bool:
        """Whether something has been added since this was last asked."""
        before, self._told = self._told, self.spent
        return before is not self._told

    def _add(self, more: Spent) -> None:
        with self._lock:
            self.spent += more


class Flight:
    """A case on its way, as the driver sees it: the account hears of everything once."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._told = Spent()

    def hear(self, spent: Spent) -> None:
        """Tell the account what has been added, given all that the case has used so far.

        News may overtake each other; what is old adds nothing.
        """
        before = self._told
        if spent.tokens < before.tokens or spent.calls < before.calls:
            return
        self._told = spent
        for role, usage in spent.usage.items():
            more = _difference(usage, before.usage.get(role, Usage()))
            if more != Usage():
                self._account.spend(role, more)
        for _ in range(spent.calls - before.calls):
            self._account.call()


def _difference(one: Usage, other: Usage) -> Usage:
    return Usage(one.input - other.input, one.output - other.output, one.cached - other.cached)
