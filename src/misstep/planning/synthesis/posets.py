"""Every partial order on a few elements, each shape once."""

from collections.abc import Iterator
from functools import cache
from itertools import permutations, product

from misstep.planning.plans.order import Order, bits

MOST_ELEMENTS = 7  # 2,045 orders; eight elements have 16,999

Closure = tuple[int, ...]
"""For each element the mask of those after it."""


@cache
def unlabelled_orders(size: int) -> tuple[Closure, ...]:
    """The partial orders on `size` elements up to isomorphism, in a fixed sequence.

    Each comes from one on `size - 1` elements by a new element on top of a down-closed set.
    """
    if size == 0:
        return ((),)
    found: dict[Closure, Closure] = {}
    for smaller in unlabelled_orders(size - 1):
        for below in _down_sets(smaller):
            grown = (*(mask | (below >> i & 1) << size - 1 for i, mask in enumerate(smaller)), 0)
            found.setdefault(_canonical(grown), grown)
    return tuple(found[key] for key in sorted(found))


def relabelled(closure: Closure, labels: list[int]) -> Order:
    """The same order with element `i` called `labels[i]`."""
    order = Order(len(closure))
    for i, mask in enumerate(closure):
        for j in bits(mask):
            order.add(labels[i], labels[j])
    return order


def _down_sets(closure: Closure) -> Iterator[int]:
    before = [sum(1 << j for j, mask in enumerate(closure) if mask >> i & 1) for i in range(len(closure))]
    for chosen in range(1 << len(closure)):
        if all(not before[i] & ~chosen for i in bits(chosen)):
            yield chosen


def _canonical(closure: Closure) -> Closure:
    """The least relabelling among those that sort elements by how they are placed."""
    size = len(closure)
    colours = _colours(closure)
    classes: dict[object, list[int]] = {}
    for i in sorted(range(size), key=lambda i: colours[i]):
        classes.setdefault(colours[i], []).append(i)
    candidates = product(*(permutations(members) for members in classes.values()))
    return min(_relabel(closure, [i for part in candidate for i in part]) for candidate in candidates)


def _colours(closure: Closure) -> list[int]:
    """A number for each element, equal only where its relations look alike all around."""
    size = len(closure)
    colours = [0] * size
    for _ in range(size):
        seen = [
            (
                colours[i],
                sorted(colours[j] for j in range(size) if closure[i] >> j & 1),
                sorted(colours[j] for j in range(size) if closure[j] >> i & 1),
            )
            for i in range(size)
        ]
        ranks = sorted(seen)
        colours = [ranks.index(look) for look in seen]
    return colours


def _relabel(closure: Closure, sequence: list[int]) -> Closure:
    place = {element: i for i, element in enumerate(sequence)}
    return tuple(sum(1 << place[j] for j in bits(closure[element])) for element in sequence)
