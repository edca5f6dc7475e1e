"""Names the actions that make a shape of the order, where one of three had better be shown than all."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, permutations

from misstep.core.constraint import Before
from misstep.core.outcome import Outcome
from misstep.planning.plans.order import Order, order_of
from misstep.planning.variation.anatomy import Anatomy, demands_of
from misstep.planning.variation.shapes import SHAPES

Pair = tuple[int, int]


def name_shape(shape: str, anatomy: Anatomy, failures: Iterable[Outcome]) -> str:
    """A shape with the actions of one of its occurrences, the one that was violated most in these failures."""
    ids = [action.id for action in anatomy.actions]
    pairs = [(said.first, said.then) for said in demands_of(anatomy) if isinstance(said, Before)]
    broken = _count_broken(failures)
    by_number = {(i, j): broken[one, other] for i, one in enumerate(ids) for j, other in enumerate(ids)}
    triple = _worst(shape, order_of(ids, pairs), by_number)
    one, two, three = [f"the {anatomy.names[number]}" for number in triple]
    if shape == "chain":
        return f"chain: {one} before {two} before {three}"
    return f"join: {one} and {two} before {three}" if shape == "join" else f"fork: {three} before {one} and {two}"


def is_shape(name: str) -> bool:
    return name in SHAPES


def _count_broken(failures: Iterable[Outcome]) -> Counter[tuple[str, str]]:
    broken = Counter[tuple[str, str]]()
    for outcome in failures:
        constraints = [outcome.case.constraints[index] for index in outcome.verdict.violated]
        broken.update((said.first, said.then) for said in constraints if isinstance(said, Before))
    return broken


def _worst(shape: str, order: Order, broken: Mapping[Pair, int]) -> tuple[int, int, int]:
    """The occurrence with the most breaches, the first of several."""
    found = list(_chains(order) if shape == "chain" else _meetings(order, shape))
    return max(found, key=lambda triple: sum([broken[pair] for pair in permutations(triple, 2)]))


def _chains(order: Order) -> Iterator[tuple[int, int, int]]:
    for i, j, k in permutations(range(order.size), 3):
        if order.implies(i, j) and order.implies(j, k):
            yield i, j, k


def _meetings(order: Order, shape: str) -> Iterator[tuple[int, int, int]]:
    """Two that are free to come in either order, and one that waits for both or that both wait for."""
    for i, j in combinations(range(order.size), 2):
        if order.implies(i, j) or order.implies(j, i):
            continue
        for k in range(order.size):
            meets = (order.implies(i, k), order.implies(j, k)) if shape == "join" else (order.implies(k, i), order.implies(k, j))
            if all(meets):
                yield i, j, k
