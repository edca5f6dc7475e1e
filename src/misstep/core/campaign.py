"""A campaign: whatever decides which cases to run next."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import islice
from typing import Protocol, TypeAlias

from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.spending import Account

# Lets an agent try a case; the account hears what that takes.
Execute: TypeAlias = Callable[[Case, Account], Awaitable[Outcome]]


class Campaign(Protocol):
    """Asked for cases, told what became of them.

    An empty answer means that nothing can be run before more outcomes are told, or, once none are
    pending, that the campaign is over.
    """

    def ask(self, most: int) -> Sequence[Case]: ...

    def tell(self, outcome: Outcome) -> None: ...


class FixedSuite:
    """A campaign of cases that are known beforehand."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = iter(cases)

    def ask(self, most: int) -> Sequence[Case]:
        return list(islice(self._cases, most))

    def tell(self, outcome: Outcome) -> None:
        pass
