"""Shows a shape of the order by three actions that make it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations, permutations

from misstep.core.constraint import Before
from misstep.core.outcome import Outcome
from misstep.planning.plans.order import Order
from misstep.planning.variation.anatomy import Anatomy
from misstep.planning.variation.shapes import told_order

Triple = tuple[int, int, int]


def name_shape(shape: str, anatomy: Anatomy, failures: Iterable[Outcome]) -> str:
    """A shape with the actions of one occurrence: the one of which most was broken in these failures."""
    numbers = {action.id: number for number, action in enumerate(anatomy.actions)}
    broken = Counter[frozenset[int]]()
    for said in _breaches(failures):
        broken[frozenset([numbers[said.first], numbers[said.then]])] += 1
    triple = max(
        occurrences(shape, told_order(anatomy.paragraph, len(anatomy.actions))),
        key=lambda triple: sum([broken[frozenset(pair)] for pair in combinations(triple, 2)]),
    )
    one, two, three = [f"the {anatomy.names[number]}" for number in triple]
    match shape:
        case "chain":
            return f"chain: {one} before {two} before {three}"
        case "join":
            return f"join: {one} and {two} before {three}"
        case _:
            return f"fork: {three} before {one} and {two}"


def occurrences(shape: str, order: Order) -> Iterator[Triple]:
    """Every chain, first to last; for joins and forks, two free of each other and whom they share."""
    if shape == "chain":
        for i, j, k in permutations(range(order.size), 3):
            if order.implies(i, j) and order.implies(j, k):
                yield i, j, k
        return
    for i, j in combinations(range(order.size), 2):
        shared = order.after[i] & order.after[j] if shape == "join" else order.before[i] & order.before[j]
        if not order.implies(i, j) and not order.implies(j, i):
            yield from ((i, j, k) for k in range(order.size) if shared >> k & 1)


def _breaches(failures: Iterable[Outcome]) -> Iterator[Before]:
    for outcome in failures:
        broken = [outcome.case.constraints[index] for index in outcome.verdict.violated]
        yield from (constraint for constraint in broken if isinstance(constraint, Before))
