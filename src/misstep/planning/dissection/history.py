"""What the run in which a case failed says about its suspects: how often other cases with them passed."""

from collections import Counter
from collections.abc import Iterable
from math import exp, log

import msgspec

from misstep.core.outcome import Outcome
from misstep.errors import UsageError
from misstep.planning.dissection.rates import Rate, log_marginal
from misstep.planning.variation.anatomy import take_apart
from misstep.planning.variation.elements import Element, elements_of

# Other cases differ in more than a suspect, so that they never weigh more than this against it.
_LEAST = 1e-3


class Record(msgspec.Struct, frozen=True):
    """How many cases failed and passed; a pass counts for less the more likely it was by chance."""

    failed: int = 0
    passed: int = 0
    weight: float = 0.0

    @property
    def count(self) -> int:
        return self.failed + self.passed


class History:
    """The cases of a run that passed or failed, counted by the elements in them; no case is kept."""

    def __init__(self, outcomes: Iterable[Outcome] = ()) -> None:
        self._failed, self._passed = Counter[Element | None](), Counter[Element | None]()
        self._weights: dict[Element | None, float] = {}
        for outcome in outcomes:
            self._add(outcome)

    def record(self, element: Element | None = None) -> Record:
        """Of the cases with an element, or of all."""
        return Record(self._failed[element], self._passed[element], self._weights.get(element, 0.0))

    def factor(self, rate: Rate, element: Element | None = None) -> float:
        """How much less likely a suspicion is, with failures at this rate where the element is; at most 1.

        Failures with the element may have other causes, so that they never speak for it. They are held
        against how often the run fails as a whole.
        """
        own, all_cases = self.record(element), self.record()
        if not own.passed:
            return 1.0
        fails = (all_cases.failed + 1) / (all_cases.failed + all_cases.weight + 2)
        otherwise = own.failed * log(fails) + own.weight * log(1 - fails)
        return min(1.0, max(_LEAST, exp(log_marginal(rate, own.failed, own.weight) - otherwise)))

    def _add(self, outcome: Outcome) -> None:
        verdict, case = outcome.verdict.verdict, outcome.case
        if verdict not in ("passed", "failed"):
            return
        try:
            elements = elements_of(take_apart(case))
        except UsageError:  # not in misstep's own words
            return
        for key in (None, *elements):
            if verdict == "failed":
                self._failed[key] += 1
            else:
                self._passed[key] += 1
                self._weights[key] = self._weights.get(key, 0.0) + 1 - (case.chance or 0.0)
