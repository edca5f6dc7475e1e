"""Chooses the variant of a failed case that is most worth running."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate, product

import msgspec

from misstep.core.case import Case
from misstep.core.dice import Dice, derive_seed
from misstep.planning.dissection.hypotheses import SAME_DEMANDS, Condition, Guilty, Hypothesis
from misstep.planning.variation.anatomy import Anatomy, again, assemble
from misstep.planning.variation.elements import Element, elements_of, vary

# How often to look for a variant that tells as much as was hoped.
_LOOKS = 4
# How many suspects of a kind to look at one by one.
_SUSPECTS = 3

Avoided = frozenset[Element]
SAME: Avoided = frozenset()  # nothing is avoided: the failed case itself


class Experiment(msgspec.Struct, frozen=True):
    """A case to be run, its parts, the elements of the failed case that are in it, and what that is worth."""

    case: Case
    anatomy: Anatomy
    condition: Condition
    worth: float


class Laboratory:
    """Makes variants of a failed case.

    What is in a variant is known for sure only when it has been made. So it is guessed before, and
    remembered afterwards.
    """

    def __init__(self, case: Case, anatomy: Anatomy) -> None:
        self._case = case
        self._anatomy = anatomy
        self.elements = _suspects(anatomy)
        self._remembered: dict[Avoided, Condition] = {}
        self._impossible = set[Avoided]()

    def choose(
        self, number: int, weights: Mapping[Hypothesis, float], worth: Callable[[Condition], float]
    ) -> Experiment:
        """The experiment for run `number`: of the variants that suspicions suggest, one worth most."""
        wanted = [avoid for avoid in variants(self.elements, weights) if avoid not in self._impossible]
        hopes = {avoid: worth(self._guess(avoid)) for avoid in wanted}
        best = self.repeat(number, hopes.pop(SAME))
        for look in range(_LOOKS):
            avoid = max(hopes, key=hopes.__getitem__, default=SAME)
            if hopes.pop(avoid, 0.0) <= best.worth:
                break
            made = self._make(avoid, derive_seed(self._case.seed, "variant", number, look), worth)
            if made and made.worth > best.worth:
                best = made
        return best

    def repeat(self, number: int, worth: float = 0.0) -> Experiment:
        """The failed case itself, once more."""
        return Experiment(again(self._case, number), self._anatomy, self._guess(SAME), worth)

    def _guess(self, avoid: Avoided) -> Condition:
        """What was in the last such variant, or else would be if nothing but these elements were lost."""
        return self._remembered.get(avoid) or _condition(self.elements - avoid, avoid)

    def _make(self, avoid: Avoided, seed: int, worth: Callable[[Condition], float]) -> Experiment | None:
        variant = vary(self._anatomy, avoid, Dice(seed))
        case = assemble(msgspec.structs.replace(variant, seed=seed)) if variant else None
        if variant is None or case is None:
            self._impossible.add(avoid)
            return None
        condition = _condition(elements_of(variant) & self.elements, avoid)
        self._remembered[avoid] = condition
        return Experiment(case, variant, condition, worth(condition))


def variants(elements: frozenset[Element], weights: Mapping[Hypothesis, float]) -> list[Avoided]:
    """What to leave out, given how likely each element is to be guilty; the first is nothing at all.

    Whole kinds in every combination, the more suspicious half of a kind by itself and with other kinds, the
    first suspects of a kind one by one, all but the first suspect of all; demands alone.
    """
    kinds = [_of(elements, "terminal"), _of(elements, "topic"), _of(elements, "structure")]
    said, demanded = SAME.union(*kinds), _of(elements, "constraint")
    found = [SAME.union(*chosen) for chosen in product(*[(SAME, kind) for kind in kinds])]
    for kind in kinds:
        others = [SAME, *(other for other in kinds if other != kind), said - kind]
        found += [_half(kind, weights) | other for other in others]
    for kind in (*kinds, demanded):
        found += [frozenset({element}) for element in _ranked(kind, weights)[:_SUSPECTS]]
    first = _ranked(said, weights)[:1]
    found += [_half(said, weights), said.difference(first), demanded, _half(demanded, weights)]
    return list(dict.fromkeys(found))


def _suspects(anatomy: Anatomy) -> frozenset[Element]:
    """The elements of a case; tools of the user's own have no topic."""
    found = elements_of(anatomy)
    return found - _of(found, "topic") if anatomy.has_own_tools else found


def _condition(elements: frozenset[Element], avoid: Avoided) -> Condition:
    """Demands are others only where elements of their own have to be avoided."""
    return elements if _of(avoid, "constraint") else elements | {SAME_DEMANDS}


def _of(elements: Iterable[Element], cause: str) -> frozenset[Element]:
    return frozenset([element for element in elements if element.cause == cause])


def _half(elements: frozenset[Element], weights: Mapping[Hypothesis, float]) -> frozenset[Element]:
    """The fewest elements that have half of the suspicion."""
    ranked = _ranked(elements, weights)
    sums = list(accumulate([weights[Guilty(element)] for element in ranked]))
    return frozenset(ranked[: bisect_left(sums, sums[-1] / 2) + 1]) if sums else SAME


def _ranked(elements: Iterable[Element], weights: Mapping[Hypothesis, float]) -> list[Element]:
    """The most suspicious first."""
    return sorted(elements, key=lambda element: (-weights[Guilty(element)], element.cause, element.name))
