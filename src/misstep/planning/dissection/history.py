"""What the run in which a case failed says about its suspects: how other cases with them ended."""

from collections import Counter
from collections.abc import Iterable

from misstep.core.outcome import Outcome
from misstep.errors import UsageError
from misstep.planning.variation.anatomy import take_apart
from misstep.planning.variation.elements import Element, elements_of

# How many cases failed and how many passed.
Record = tuple[int, int]


class History:
    """The cases of a run that passed or failed, counted by the elements in them; no case is kept."""

    def __init__(self, outcomes: Iterable[Outcome] = ()) -> None:
        self._failed, self._passed = Counter[Element | None](), Counter[Element | None]()
        for outcome in outcomes:
            self._add(outcome)

    def record(self, element: Element | None = None) -> Record:
        """Of the cases with an element, or of all, without the one that is looked into."""
        return max(0, self._failed[element] - 1), self._passed[element]

    def _add(self, outcome: Outcome) -> None:
        verdict = outcome.verdict.verdict
        if verdict not in ("passed", "failed"):
            return
        try:
            elements = elements_of(take_apart(outcome.case))
        except UsageError:  # not in misstep's own words
            return
        (self._failed if verdict == "failed" else self._passed).update((None, *elements))
