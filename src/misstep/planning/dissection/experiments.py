"""Chooses the variants of a failed case to run and the runs that confirm a cause; repeats unjudged runs."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, product
from math import ceil, log

import msgspec

from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.rng import Dice, derive_seed
from misstep.core.run import Inquiry
from misstep.planning.dissection.findings import VariantRun
from misstep.planning.dissection.hypotheses import (
    SAME_DEMANDS,
    AllDemands,
    Condition,
    ConstantRate,
    ElementHistory,
    Guilty,
    Hopeless,
    Hypothesis,
    RequestText,
)
from misstep.planning.language.requests import how_often
from misstep.planning.variation.anatomy import Anatomy, again, assemble
from misstep.planning.variation.elements import (
    ACTIONS,
    CHARACTERS,
    SENTENCES,
    Element,
    elements_of,
    least_of,
    smallest,
    vary,
)

_LOOKS = 4  # attempts to make a variant that tells as much as expected
_SUSPECTS = 3  # of one kind that are examined one by one
_MOST_ATTEMPTS = 3  # runs of a case until there is a verdict

Avoided = frozenset[Element]
SAME: Avoided = frozenset()  # nothing is avoided: the failed case itself


class Experiment(msgspec.Struct, frozen=True):
    """A case made without the elements `avoid`, and what a run of it is expected to tell."""

    case: Case
    anatomy: Anatomy
    condition: Condition
    worth: float
    avoid: Avoided = SAME


class Laboratory:
    """Makes variants of a failed case; what one contains is guessed, and remembered once it was made."""

    def __init__(self, case: Case, anatomy: Anatomy) -> None:
        self._case = case
        self._anatomy = anatomy
        # Without sizes that it can't be reduced below.
        self.elements = elements_of(anatomy) - of(elements_of(smallest(anatomy)), "size")
        self._remembered: dict[Avoided, Condition] = {}
        self._impossible = set[Avoided]()

    def choose(
        self, number: int, weights: Mapping[Hypothesis, float], worth: Callable[[Condition], float]
    ) -> Experiment:
        """The experiment for run `number`: the most valuable of the variants that suspicions suggest."""
        wanted = [avoid for avoid in variants(self.elements, weights) if avoid not in self._impossible]
        hopes = {avoid: worth(self._guess(avoid) if avoid else self.original) for avoid in wanted}
        best = self.same(number, hopes.pop(SAME))
        for look in range(_LOOKS):
            avoid = max(hopes, key=hopes.__getitem__, default=SAME)
            if hopes.pop(avoid, 0.0) <= best.worth:
                break
            made = self._make(avoid, derive_seed(self._case.seed, "variant", number, look), worth)
            if made and made.worth > best.worth:
                best = made
        return best

    def same(self, number: int, worth: float = 0.0) -> Experiment:
        return Experiment(again(self._case, number), self._anatomy, self.original, worth)

    @property
    def original(self) -> Condition:
        return self._condition(self.elements, SAME) | {RequestText(self._case.query)}

    def make(self, number: int, avoid: Avoided) -> Experiment | None:
        """A variant for run `number` without these elements; None if there is none."""
        seed = derive_seed(self._case.seed, "check", number, 0)
        return None if avoid in self._impossible else self._make(avoid, seed, lambda _: 0.0)

    def _guess(self, avoid: Avoided) -> Condition:
        """What the last such variant contained, or what it would if only these elements were removed."""
        return self._remembered.get(avoid) or self._condition(self.elements - avoid, avoid)

    def _condition(self, elements: frozenset[Element], avoid: Avoided) -> Condition:
        """The demands change only if some of them are avoided, or if actions were dropped."""
        fewer = [each for each in self.elements - elements if least_of([each.name], ACTIONS)]
        return elements if fewer or of(avoid, "constraint") else elements | {SAME_DEMANDS}

    def _make(self, avoid: Avoided, seed: int, worth: Callable[[Condition], float]) -> Experiment | None:
        variant = vary(self._anatomy, avoid, Dice(seed))
        case = assemble(msgspec.structs.replace(variant, seed=seed)) if variant else None
        if variant is None or case is None:
            self._impossible.add(avoid)
            return None
        condition = self._condition(elements_of(variant) & self.elements, avoid)
        self._remembered[avoid] = condition
        condition |= {RequestText(case.query)}
        return Experiment(case, variant, condition, worth(condition), avoid)


def variants(elements: frozenset[Element], weights: Mapping[Hypothesis, float]) -> list[Avoided]:
    """Sets of elements to leave out, given how likely each is to be guilty; the first set is empty.

    Whole kinds in every combination, the more suspicious half of a kind alone and with other kinds, the first
    suspects of a kind one by one, all but the top suspect; demands alone; smaller sizes.
    """
    kinds = [of(elements, "terminal"), of(elements, "name"), of(elements, "structure")]
    topic, said = of(elements, "topic") | of(elements, "name"), sayings(elements)
    demanded = of(elements, "constraint")
    settings = [SAME, kinds[1], topic]
    found = [SAME.union(*chosen) for chosen in product([SAME, kinds[0]], settings, [SAME, kinds[2]])]
    for kind in kinds:
        others = [SAME, *(other for other in (kinds[0], topic, kinds[2]) if not other & kind), said - kind]
        found += [_half(kind, weights) | other for other in others]
    for kind in (*kinds, of(elements, "position"), demanded):
        found += [frozenset({element}) for element in _ranked(kind, weights)[:_SUSPECTS]]
    first = _ranked(said, weights)[:1]
    found += [_half(said, weights), said.difference(first), demanded, _half(demanded, weights)]
    placed = of(elements, "position")
    found += [placed, placed | said, _half(placed, weights), *smaller(elements, weights)]
    return list(dict.fromkeys(found))


def smaller(elements: frozenset[Element], weights: Mapping[Hypothesis, float]) -> Iterator[Avoided]:
    """Sizes to stay below: for each unit the lowest, and the one with half of the suspicion below it."""
    for unit in (ACTIONS, SENTENCES, CHARACTERS):
        reached = _thresholds(elements, unit)
        if not reached:
            continue
        sums = list(accumulate([weights[Guilty(element)] for element in reached]))
        middle = bisect_left(sums, sums[-1] / 2)
        for place in dict.fromkeys((0, middle, min(middle + 1, len(reached) - 1), len(reached) - 1)):
            yield frozenset(reached[place:])


def reaching(elements: frozenset[Element], element: Element) -> Avoided:
    """An element with all that depends on it: larger sizes of the same unit, the names of a topic."""
    if element.cause == "topic":
        return of(elements, "name") | {element}
    if element.cause != "size":
        return frozenset({element})
    reached = _thresholds(elements, element.name.split()[1])
    return frozenset(reached[reached.index(element) :])


def sayings(elements: frozenset[Element]) -> Avoided:
    """All that can be changed without changing the demands: words, names, topic, forms of sentences."""
    return SAME.union(*[of(elements, cause) for cause in ("terminal", "topic", "name", "structure")])


def of(elements: Iterable[Element], cause: str) -> frozenset[Element]:
    return frozenset([element for element in elements if element.cause == cause])


def _thresholds(elements: frozenset[Element], unit: str) -> list[Element]:
    own = [element for element in of(elements, "size") if least_of([element.name], unit)]
    return sorted(own, key=lambda element: least_of([element.name], unit) or 0)


def _half(elements: frozenset[Element], weights: Mapping[Hypothesis, float]) -> frozenset[Element]:
    """The fewest elements that have half of the suspicion."""
    ranked = _ranked(elements, weights)
    sums = list(accumulate([weights[Guilty(element)] for element in ranked]))
    return frozenset(ranked[: bisect_left(sums, sums[-1] / 2) + 1]) if sums else SAME


def _ranked(elements: Iterable[Element], weights: Mapping[Hypothesis, float]) -> list[Element]:
    return sorted(elements, key=lambda element: (-weights[Guilty(element)], element.cause, element.name))


# Attempts to confirm a cause; a fault that occurs half of the time needs a few.
_MOST_TRIES = 10
_MOST_RERUNS = 30
# From this confidence on, a cause has to be confirmed several times.
_SURE = 0.9
_PASSES = 3
_FAILURES = 2
# Maximum probability that a case fails this often by chance if other cases with the same fault pass.
_DOUBT = 0.003
# These cause failures wherever they occur. Words, forms and shapes may occur where they do no harm.
_ALWAYS_SEEN = ("topic", "name", "size", "position")


class Check(msgspec.Struct, frozen=True):
    """What to leave out of the case, and whether the agent should then fail; `about` says what that shows.

    It has to be observed `times` times within `tries` runs. `avoid` are ways to make it, the best first;
    `holds` is what has to be left in.
    """

    avoid: tuple[Avoided, ...]
    fails: bool
    about: str
    holds: Element | None = None
    times: int = 1
    tries: int = _MOST_TRIES
    by_size: bool = False

    def own(self, runs: Sequence[VariantRun]) -> list[VariantRun]:
        return [run for run in runs if run.avoid in self.avoid and self.fits(run.condition)]

    def fits(self, condition: Condition) -> bool:
        return self.holds is None or self.holds in condition

    def is_met(self, runs: Sequence[VariantRun]) -> bool:
        seen = [run for run in self.own(runs) if run.failed == self.fails]
        if not self.by_size:
            return len(seen) >= self.times
        # Small cases can be passed by guessing, so a pass counts for less the likelier that is.
        return sum([1 - (run.outcome.case.chance or 0.0) for run in seen]) >= self.times

    def is_refuted(self, runs: Sequence[VariantRun]) -> bool:
        return len(self.own(runs)) >= self.tries


class Witnesses(msgspec.Struct, frozen=True):
    """All evidence: runs of variants, the run in which the case failed, and the required confidence."""

    runs: Sequence[VariantRun]
    history: ElementHistory
    confidence: float

    def reruns_for(self, element: Element) -> int:
        """How often the same case has to fail to show that an element alone does not explain it.

        That is shown if other cases with the element pass and this one never does. 0 if it can't be shown, as
        with shapes, of which other cases may have fewer.
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
    """The required checks: it passes with only the suspect changed, and fails with all else changed.

    If there are two faults, neither alone explains the failure; if two elements are harmful only together,
    neither does harm alone. An agent that fails by chance passes the same case at some time.
    """
    said = sayings(elements)
    match hypothesis:
        case Guilty(element):
            is_sure = witnesses.confidence >= _SURE
            passes, failures = (_PASSES, _FAILURES) if is_sure else (1, 1)
            alone, by_size = reaching(elements, element), element.cause == "size"
            yield Check((alone,), False, "with nothing else changed", times=passes, by_size=by_size)
            yield Check(tuple(_all_else(elements, element)), True, "with all else changed", element, failures)
            if 0 < (reruns := witnesses.reruns_for(element)) <= _MOST_RERUNS:
                yield Check((SAME,), False, "of the same case, and others with it passed", element, 1, reruns)
            larger = alone - {element}
            if by_size and larger:
                yield Check((said | larger, larger), True, "of just that size", element)
        case AllDemands():
            yield Check((said,), True, "in other words")
            if demands := of(elements, "constraint"):
                yield Check((demands,), False, "with other constraints")
        case Hopeless():
            fewer = [each for each in of(elements, "size") if least_of([each.name], ACTIONS)]
            yield Check((said.union(fewer), frozenset(fewer), said), True, "in the smallest request")
        case ConstantRate():
            yield Check((SAME,), False, "of the same case", tries=_MOST_RERUNS)


def _all_else(elements: frozenset[Element], element: Element) -> Iterator[Avoided]:
    """All that can be changed except the element; words and forms of sentences depend on each other."""
    kept = {element, *(of(elements, "topic") if element.cause == "name" else ())}
    said, forms, words = sayings(elements) - kept, of(elements, "structure"), of(elements, "terminal")
    yield from (said, said - forms, said - words, said - forms - words)


def next_check(
    hypothesis: Hypothesis, laboratory: Laboratory, witnesses: Witnesses
) -> tuple[Check, Experiment] | None:
    """The first check that is not met yet; those that can't be made are skipped."""
    number = len(witnesses.runs)
    for check in checks_of(hypothesis, laboratory.elements, witnesses):
        for avoid in () if check.is_met(witnesses.runs) else check.avoid:
            made = laboratory.make(number, avoid) if avoid else laboratory.same(number)
            if made and check.fits(made.condition):
                return check, made
    return None


class AgentAttempt(msgspec.Struct, frozen=True):
    """The outcome of a case, after this many runs of the agent."""

    outcome: Outcome
    runs: int

    @property
    def failed(self) -> bool | None:
        """None if no run passed or failed."""
        return {"passed": False, "failed": True}.get(self.outcome.verdict.verdict)

    @property
    def complaint(self) -> str:
        verdict = self.outcome.verdict
        return f"{verdict.verdict} {how_often(self.runs)} running: {verdict.explanation}".rstrip(": ")


def attempt(case: Case, most: int = _MOST_ATTEMPTS) -> Inquiry[AgentAttempt]:
    """Run a case, and again with another seed while it gets no verdict; `most` is at least 1."""
    tried = case
    for runs in range(1, min(most, _MOST_ATTEMPTS) + 1):
        (outcome,) = yield (tried,)
        done = AgentAttempt(outcome, runs)
        if done.failed is not None:
            break
        tried = again(case, runs)
    return done
