"""The variants that a failed case can be compared with, and which of them to run next."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product

import msgspec

from misstep.core.case import Case
from misstep.core.dice import Dice, derive_seed
from misstep.planning.dissection.hypotheses import SAME_DEMANDS, Condition, Guilty, Hypothesis
from misstep.planning.variation.anatomy import Anatomy, again, assemble
from misstep.planning.variation.elements import Element, elements_of, vary

# How often to look for a variant that tells as much as was hoped.
_LOOKS = 4

Avoided = frozenset[Element]


class Experiment(msgspec.Struct, frozen=True):
    """A case to be run, the elements of the failed case that are in it, and what it is worth to know more."""

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
        self._known: dict[Avoided, Condition] = {}
        self._impossible = set[Avoided]()

    def choose(
        self, number: int, weights: Mapping[Hypothesis, float], worth: Callable[[Condition], float]
    ) -> Experiment:
        """The variant that is worth most, for run `number`; which are looked at depends on the suspicions."""
        wanted = [avoid for avoid in variants(self.elements, weights) if avoid not in self._impossible]
        hopes = {avoid: worth(self._guess(avoid)) for avoid in wanted}
        best = Experiment(again(self._case, number), self._anatomy, self._guess(frozenset()), hopes.pop(frozenset()))
        for look in range(_LOOKS):
            avoid = max(hopes, key=hopes.__getitem__, default=frozenset[Element]())
            if hopes.get(avoid, 0.0) <= best.worth:
                break
            del hopes[avoid]
            made = self._make(avoid, derive_seed(self._case.seed, "variant", number, look))
            if made and (found := worth(self._known[avoid])) > best.worth:
                best = Experiment(made[0], made[1], self._known[avoid], found)
        return best

    def _guess(self, avoid: Avoided) -> Condition:
        """What a variant without these elements would hold if nothing else were lost."""
        return self._known.get(avoid) or self._hold(self.elements - avoid, avoid)

    def _make(self, avoid: Avoided, seed: int) -> tuple[Case, Anatomy] | None:
        variant = vary(self._anatomy, avoid, Dice(seed))
        case = assemble(msgspec.structs.replace(variant, seed=seed)) if variant else None
        if variant is None or case is None:
            self._impossible.add(avoid)
            return None
        self._known[avoid] = self._hold(elements_of(variant) & self.elements, avoid)
        return case, variant

    @staticmethod
    def _hold(elements: frozenset[Element], avoid: Avoided) -> Condition:
        """Demands change only where one of their own elements has to be avoided."""
        changed = any(element.cause == "constraint" for element in avoid)
        return elements if changed else elements | {SAME_DEMANDS}


def _suspects(anatomy: Anatomy) -> frozenset[Element]:
    """The elements of a case; tools of the user's own have no topic."""
    found = elements_of(anatomy)
    return found - _of(found, "topic") if anatomy.has_own_tools else found


def variants(elements: frozenset[Element], weights: Mapping[Hypothesis, float]) -> Iterator[Avoided]:
    """What to leave out, given how likely each element is to be guilty; the first is nothing at all.

    Whole kinds in every combination, the more suspicious half of a kind by itself and with other kinds, the
    first suspect of a kind alone, all but the first suspect of all.
    """
    kinds = [_of(elements, "terminal"), _of(elements, "topic"), _of(elements, "structure")]
    said = frozenset[Element]().union(*kinds)
    demanded = _of(elements, "constraint")
    suspects = _ranked(said, weights)
    found = [frozenset[Element]().union(*chosen) for chosen in product(*[(frozenset(), kind) for kind in kinds])]
    for kind in kinds:
        others = [frozenset[Element](), *(other for other in kinds if other != kind), said - kind]
        found += [_half(kind, weights) | other for other in others]
    for kind in (*kinds, demanded):
        found += [frozenset({element}) for element in _ranked(kind, weights)[:3]]
    found += [_half(said, weights), said - frozenset(suspects[:1]), demanded, _half(demanded, weights)]
    return iter(dict.fromkeys(found))


def _of(elements: Iterable[Element], cause: str) -> frozenset[Element]:
    return frozenset([element for element in elements if element.cause == cause])


def _half(elements: frozenset[Element], weights: Mapping[Hypothesis, float]) -> frozenset[Element]:
    """The fewest elements that have half of the suspicion."""
    chosen, goal = list[Element](), sum([weights[Guilty(element)] for element in elements]) / 2
    for element in _ranked(elements, weights):
        if goal <= 0:
            break
        chosen.append(element)
        goal -= weights[Guilty(element)]
    return frozenset(chosen)


def _ranked(elements: Iterable[Element], weights: Mapping[Hypothesis, float]) -> list[Element]:
    """The most suspicious first."""
    return sorted(elements, key=lambda element: (-weights[Guilty(element)], element.cause, element.name))
