"""Partial orders as bitsets, the fast basis of synthesis and checking."""

from collections import deque
from collections.abc import Iterable, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from math import comb

from misstep.core.constraint import Adjacent, Before, Condition, Constraint, Handover


def bits(mask: int) -> Sequence[int]:
    """The positions of the set bits, lowest first."""
    if mask < len(_SMALL):
        return _SMALL[mask]
    return [*_SMALL[mask % len(_SMALL)], *(_WIDTH + position for position in bits(mask >> _WIDTH))]


_WIDTH = 10
_SMALL = tuple(tuple(i for i in range(_WIDTH) if mask >> i & 1) for mask in range(1 << _WIDTH))


class Order:
    """A strict partial order on the numbers below `size`, kept transitively closed."""

    __slots__ = ("after", "before", "size")

    def __init__(self, size: int, relations: Iterable[tuple[int, int]] = ()) -> None:
        self.size = size
        self.after = [0] * size  # for each number, bits for all that have to come after it
        self.before = [0] * size
        for first, then in relations:
            if not self.add(first, then):
                raise ValueError(f"{first} before {then} closes a cycle")

    def implies(self, first: int, then: int) -> bool:
        return bool(self.after[first] >> then & 1)

    def stands(self, action: int, direction: str, mask: int) -> bool:
        """Whether an action comes before (`<`) or after (`>`) everything in `mask`."""
        return (self.after if direction == "<" else self.before)[action] & mask == mask

    def add(self, first: int, then: int) -> bool:
        """Require `first` before `then`; False, with nothing changed, if that closes a cycle."""
        after, before = self.after, self.before
        if first == then or after[then] >> first & 1:
            return False
        if not after[first] >> then & 1:
            earlier, later = before[first] | 1 << first, after[then] | 1 << then
            for i in bits(earlier):
                after[i] |= later
            for i in bits(later):
                before[i] |= earlier
        return True

    def copy(self) -> "Order":
        same = Order(self.size)
        same.after, same.before = self.after[:], self.before[:]
        return same

    def is_total(self) -> bool:
        return sum([mask.bit_count() for mask in self.after]) * 2 == self.size * (self.size - 1)


def loose_order(size: int, relations: Iterable[tuple[int, int]]) -> Order:
    """The order given by relations; one that contradicts those before it is ignored."""
    order = Order(size)
    for first, then in relations:
        order.add(first, then)
    return order


def order_of(names: Sequence[str], pairs: Iterable[tuple[str, str]]) -> Order:
    """The order given by pairs of names; names are numbered by position."""
    numbers = {name: number for number, name in enumerate(names)}
    return Order(len(numbers), [(numbers[first], numbers[then]) for first, then in pairs])


def relations_of(constraint: Constraint) -> list[tuple[str, str]]:
    """Pairs of actions of which a constraint puts the first before the second."""
    match constraint:
        case Before(first, then) | Adjacent(first, then) | Handover(first, then):
            return [(first, then)]
        case Condition(asks, _, then, otherwise):
            return [(asks, branch) for branch in (then, otherwise) if branch]
        case _:
            return []


def find_cycle(relations: Sequence[tuple[int, int]]) -> list[int]:
    """Indices of a smallest set of relations that contradict each other; empty if there is none."""
    best: list[int] = []
    for start, (first, then) in enumerate(relations):
        path = _shortest_path(relations, then, first)
        if path is not None and (not best or len(path) + 1 < len(best)):
            best = sorted([start, *path])
    return best


def _shortest_path(relations: Sequence[tuple[int, int]], source: int, goal: int) -> list[int] | None:
    """Indices of the relations that lead from `source` to `goal`, as few as possible."""
    reached: dict[int, list[int]] = {source: []}
    queue = deque([source])
    while queue and goal not in reached:
        node = queue.popleft()
        for index, (first, then) in enumerate(relations):
            if first == node and then not in reached:
                reached[then] = [*reached[node], index]
                queue.append(then)
    return reached.get(goal)


def first_available(before: Sequence[int]) -> list[int]:
    """The correct order that always takes the lowest number allowed."""
    done, waiting = 0, list(range(len(before)))
    order: list[int] = []
    while waiting:
        for action in waiting:
            if not before[action] & ~done:
                break
        waiting.remove(action)
        done |= 1 << action
        order.append(action)
    return order


@lru_cache(maxsize=8192)
def count_orders(before: tuple[int, ...]) -> int:
    """How many total orders respect a closed partial order, given by its `before` masks.

    Dynamic programming over subsets: disconnected parts are counted separately and interleaved; from a
    connected part one minimal element at a time is removed, or its only maximal one.
    """
    touching = list(before)
    for i, mask in enumerate(before):
        for j in bits(mask):
            touching[j] |= 1 << i
    memo = {0: 1}

    def count(mask: int) -> int:
        known = memo.get(mask)
        if known is not None:
            return known
        part = _component(mask, touching)
        if part == mask:
            tops = [i for i in bits(mask) if not touching[i] & ~before[i] & mask]
            bottoms = [i for i in bits(mask) if not before[i] & mask]
            total = sum(count(mask ^ 1 << i) for i in (tops if len(tops) == 1 else bottoms))
        else:
            rest = mask ^ part
            total = comb(mask.bit_count(), part.bit_count()) * count(part) * count(rest)
        memo[mask] = total
        return total

    return count((1 << len(before)) - 1)


def _component(mask: int, touching: Sequence[int]) -> int:
    """The connected part of `mask` that contains its lowest element."""
    part, grown = 0, mask & -mask
    while grown != part:
        part = grown
        for i in bits(part):
            grown |= touching[i] & mask
    return part


def nearest_order(order: Order, wished: Sequence[int]) -> list[int]:
    """The correct order with the fewest pairs swapped against `wished`.

    `wished` may leave actions out: those cost nothing at any position. Exact: a cheapest-first search over
    what is done already, in which only swaps that nothing forces have a cost.
    """
    before, after = order.before, order.after
    left_out = [i for i in range(order.size) if i not in wished]
    ahead, named = [0] * order.size, 0
    for action in wished:
        ahead[action] = named
        named |= 1 << action

    def choices(done: int) -> list[int]:
        """Actions worth taking now; a single one if no other can be better.

        That is so for an action without cost, and for an unwished one that a wished one waits for.
        """
        allowed: list[int] = []
        for i in wished:
            if not done >> i & 1 and not before[i] & ~done:
                if not ahead[i] & ~done & ~after[i]:
                    return [i]
                allowed.append(i)
        waiting = named & ~done
        for i in left_out:
            useful = after[i] & waiting or not waiting
            if useful and not done >> i & 1 and not before[i] & ~done:
                return [i]
        return allowed

    queue: list[tuple[int, int, int, list[int]]] = [(0, order.size, 0, [])]
    seen: set[int] = set()
    while True:
        cost, _, done, path = heappop(queue)
        while len(allowed := choices(done)) == 1:  # a single choice is always free
            path += allowed
            done |= 1 << allowed[0]
        if len(path) == order.size:
            return path
        if done not in seen:
            seen.add(done)
            left = order.size - len(path) - 1
            for i in allowed:
                overtaken = ahead[i] & ~done & ~after[i]  # unnecessarily
                heappush(queue, (cost + overtaken.bit_count(), left, done | 1 << i, [*path, i]))
