"""Runs that have to bear out a cause before it is named."""

from collections.abc import Iterator, Sequence
from math import ceil, log

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
from misstep.planning.dissection.history import History
from misstep.planning.dissection.hypotheses import Coin, Condition, Guilty, Hopeless, Hypothesis, Whole
from misstep.planning.variation.elements import Element
from misstep.planning.variation.extent import ACTIONS, least_of

# How often to try for a run that bears a cause out; a fault that strikes half the time needs a few.
_MOST_TRIES = 10
_MOST_RERUNS = 30
# From such a confidence on, a cause has to be borne out several times.
_SURE = 0.9
_PASSES = 3
_FAILURES = 2
# How unlikely it has to be that a case fails so often by chance if other cases with the same fault pass.
_DOUBT = 0.003
# Whoever stumbles over these does so wherever they are. Words, forms and shapes may be where they do no harm.
_ALWAYS_SEEN = ("topic", "name", "size", "position")


class Check(msgspec.Struct, frozen=True):
    """What to leave out of the case, and whether the agent should then fail; `about` says what that shows.

    It has to be seen so many `times` within so many `tries`. `avoid` are ways to make it, the best first;
    `holds` is what has to be left in.
    """

    avoid: tuple[Avoided, ...]
    fails: bool
    about: str
    holds: Element | None = None
    times: int = 1
    tries: int = _MOST_TRIES
    by_size: bool = False

    def own(self, runs: Sequence[Run]) -> list[Run]:
        """The runs that were made like that."""
        return [run for run in runs if run.avoid in self.avoid and self.fits(run.condition)]

    def fits(self, condition: Condition) -> bool:
        return self.holds is None or self.holds in condition

    def is_met(self, runs: Sequence[Run]) -> bool:
        seen = [run for run in self.own(runs) if run.failed == self.fails]
        if not self.by_size:
            return len(seen) >= self.times
        # Whoever guesses passes what is small enough, so that a pass counts for less the likelier that is.
        return sum([1 - (run.outcome.case.chance or 0.0) for run in seen]) >= self.times

    def is_refuted(self, runs: Sequence[Run]) -> bool:
        """Whether it has been tried often enough, to no avail."""
        return len(self.own(runs)) >= self.tries


class Witnesses(msgspec.Struct, frozen=True):
    """All that was seen: runs, and the run in which the case failed; and how sure one has to be."""

    runs: Sequence[Run]
    history: History
    confidence: float

    def reruns_for(self, element: Element) -> int:
        """How often the very same case has to fail to show that an element is not enough for that.

        It is if other cases with the element pass and this one never does. 0 if it can't be shown, as with
        shapes, of which other cases may have fewer.
        """
        if self.confidence < _SURE or element.cause == "constraint":
            return 0
        others = [run.failed for run in self.runs if element in run.condition and run.avoid]
        records = [(sum(others), len(others) - sum(others))]
        if element.cause in _ALWAYS_SEEN:
            records.append(self.history.record(element))
        share = max([passed / (failed + passed + 1) for failed, passed in records])
        return ceil(log(_DOUBT) / log(1 - share)) if share else 0


def checks_of(hypothesis: Hypothesis, elements: frozenset[Element], witnesses: Witnesses) -> Iterator[Check]:
    """What has to be seen: it passes with nothing but the suspect changed, and fails with all else changed.

    Of two faults, neither is to blame alone; of two things that are harmful only together, neither does harm
    without the other. An agent that fails by chance passes the very same case at some time.
    """
    said = sayings(elements)
    match hypothesis:
        case Guilty(element):
            is_sure = witnesses.confidence >= _SURE
            passes, failures = (_PASSES, _FAILURES) if is_sure else (1, 1)
            yield Check(
                (reaching(elements, element),),
                False,
                "with nothing else changed",
                times=passes,
                by_size=element.cause == "size",
            )
            yield Check(tuple(_all_else(elements, element)), True, "with all else changed", element, failures)
            if 0 < (reruns := witnesses.reruns_for(element)) <= _MOST_RERUNS:
                yield Check((SAME,), False, "of the same case, and others with it passed", element, 1, reruns)
            larger = reaching(elements, element) - {element}
            if element.cause == "size" and larger:
                yield Check((said | larger, larger), True, "of just that size", element)
        case Whole():
            yield Check((said,), True, "in other words")
            if demands := of(elements, "constraint"):
                yield Check((demands,), False, "with other demands")
        case Hopeless():
            fewer = [each for each in of(elements, "size") if least_of([each.name], ACTIONS)]
            yield Check((said.union(fewer), frozenset(fewer), said), True, "with as little as can be asked")
        case Coin():
            yield Check((SAME,), False, "of the same case", tries=_MOST_RERUNS)


def _all_else(elements: frozenset[Element], element: Element) -> Iterator[Avoided]:
    """All that can be changed but the element; words and forms of sentences depend on each other."""
    kept = {element, *(of(elements, "topic") if element.cause == "name" else ())}
    said = sayings(elements) - kept
    yield said
    for cause in ("structure", "terminal"):
        yield said - of(elements, cause)
    yield said - of(elements, "structure") - of(elements, "terminal")


def next_check(
    hypothesis: Hypothesis, laboratory: Laboratory, witnesses: Witnesses
) -> tuple[Check, Experiment] | None:
    """The first check that is still to be met; those that can't be made are left out."""
    for check in checks_of(hypothesis, laboratory.elements, witnesses):
        met = check.is_met(witnesses.runs)
        made = None if met else _make(check, laboratory, len(witnesses.runs))
        if made:
            return check, made
    return None


def _make(check: Check, laboratory: Laboratory, number: int) -> Experiment | None:
    for avoid in check.avoid:
        made = laboratory.make(number, avoid) if avoid else laboratory.same(number)
        if made and check.fits(made.condition):
            return made
    return None
