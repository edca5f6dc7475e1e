"""Runs that have to bear out a cause before it is named."""

from collections.abc import Iterator, Sequence

import msgspec

from misstep.planning.dissection.experiments import (
    SAME,
    Avoided,
    Experiment,
    Laboratory,
    of,
    reaching,
    sayings,
)
from misstep.planning.dissection.findings import Run
from misstep.planning.dissection.history import History, Record
from misstep.planning.dissection.hypotheses import Coin, Condition, Guilty, Hopeless, Hypothesis, Whole
from misstep.planning.variation.elements import Element
from misstep.planning.variation.extent import ACTIONS, least_of

# How often to try for a run that bears a cause out; a fault that strikes half the time needs a few.
_MOST_TRIES = 8
_MOST_RERUNS = 4
# From so many passes on with a suspect in the run itself, and such a share, it can't be to blame on its own
# for a case that always fails.
_PASSES = 2
_SHARE = 0.05


class Check(msgspec.Struct, frozen=True):
    """What to leave out of the case, and whether the agent should then fail; `about` says what that shows.

    `avoid` are ways to make it, the best first; `holds` is what has to be left in.
    """

    avoid: tuple[Avoided, ...]
    fails: bool
    about: str
    holds: Element | None = None

    def own(self, runs: Sequence[Run]) -> list[Run]:
        """The runs that were made like that."""
        return [run for run in runs if run.avoid in self.avoid and self.fits(run.condition)]

    def fits(self, condition: Condition) -> bool:
        return self.holds is None or self.holds in condition

    def is_met(self, runs: Sequence[Run], times: int) -> bool:
        """Whether it was seen so often, and more often than not."""
        own = self.own(runs)
        met = sum([run.failed == self.fails for run in own])
        if SAME in self.avoid:  # once is enough to show that it is not always so
            return met > 0
        return met >= times and 2 * met > len(own)

    def is_refuted(self, runs: Sequence[Run]) -> bool:
        """Whether it has been tried often enough, to no avail."""
        return len(self.own(runs)) >= (_MOST_RERUNS if SAME in self.avoid and self.holds else _MOST_TRIES)


def checks_of(hypothesis: Hypothesis, elements: frozenset[Element], history: History) -> Iterator[Check]:
    """What has to be seen: it passes with nothing but the suspect changed, and fails with all else changed.

    Of two faults, neither is to blame alone; of two things that are harmful only together, neither does harm
    without the other. An agent that fails by chance passes the very same case at some time.
    """
    said = sayings(elements)
    match hypothesis:
        case Guilty(element):
            yield Check((reaching(elements, element),), False, "with nothing else changed")
            yield Check(tuple(_all_else(elements, element)), True, "with all else changed", element)
            if _passes(history.record(element)):
                yield Check((SAME,), False, "of the same case, and others with it passed", element)
            larger = reaching(elements, element) - {element}
            if element.cause == "size" and larger:
                yield Check((said | larger, larger), True, "of just that size", element)
        case Whole():
            yield Check((said,), True, "in other words")
        case Hopeless():
            fewer = [each for each in of(elements, "size") if least_of([each.name], ACTIONS)]
            yield Check((said.union(fewer), frozenset(fewer), said), True, "with as little as can be asked")
        case Coin():
            yield Check((SAME,), False, "of the same case")


def _passes(record: Record) -> bool:
    """Whether cases with a suspect pass now and then, by more than luck."""
    return record.weight >= _PASSES and record.passed > _SHARE * record.count


def _all_else(elements: frozenset[Element], element: Element) -> Iterator[Avoided]:
    """All that can be changed but the element; words and forms of sentences depend on each other."""
    kept = {element, *(of(elements, "topic") if element.cause == "name" else ())}
    said = sayings(elements) - kept
    yield said
    for cause in ("structure", "terminal"):
        yield said - of(elements, cause)
    yield said - of(elements, "structure") - of(elements, "terminal")


def next_check(
    hypothesis: Hypothesis, laboratory: Laboratory, history: History, runs: Sequence[Run], times: int
) -> tuple[Check, Experiment] | None:
    """The first check that is still to be met so many times; those that can't be made are left out."""
    for check in checks_of(hypothesis, laboratory.elements, history):
        made = None if check.is_met(runs, times) else _make(check, laboratory, len(runs))
        if made:
            return check, made
    return None


def _make(check: Check, laboratory: Laboratory, number: int) -> Experiment | None:
    for avoid in check.avoid:
        made = laboratory.make(number, avoid) if avoid else laboratory.same(number)
        if made and check.fits(made.condition):
            return made
    return None
