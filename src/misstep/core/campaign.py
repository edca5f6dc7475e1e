"""A campaign: whatever decides which cases to run next."""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Protocol

from misstep.core.case import Case
from misstep.core.outcome import Outcome


class Campaign(Protocol):
    """Asked for cases, told what became of them.

    An empty answer means that nothing can be run before more outcomes are told, or, once none are
    pending, that the campaign is over.
    """

    def ask(self, most: int) -> Sequence[Case]: ...

    def tell(self, outcome: Outcome) -> None: ...


class FixedSuite:
    """A campaign of known cases, less those that an earlier sitting has finished."""

    def __init__(self, cases: Iterator[Case], finished: Collection[str] = ()) -> None:
        self._cases = (case for case in cases if case.id not in finished)

    def ask(self, most: int) -> Sequence[Case]:
        return list(islice(self._cases, most))

    def tell(self, outcome: Outcome) -> None:
        pass


class WithinBudget:
    """A campaign that ends when the money does: no case is started once `spent` says so."""

    def __init__(self, campaign: Campaign, spent: Callable[[], bool]) -> None:
        self._campaign = campaign
        self._spent = spent
        self.stopped = False

    def ask(self, most: int) -> Sequence[Case]:
        self.stopped = self.stopped or self._spent()
        return [] if self.stopped else self._campaign.ask(most)

    def tell(self, outcome: Outcome) -> None:
        self._campaign.tell(outcome)
