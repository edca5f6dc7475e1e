"""The correct plan that changes an agent's own least, where there is more to heed than order."""

from collections.abc import Sequence
from heapq import heappop, heappush

from misstep.core.case import World
from misstep.core.constraint import Constraint
from misstep.planning.plans.demands import Demands, selections
from misstep.planning.plans.search import steps

MOST_STATES = 5_000  # a nearest plan is a kindness: it must not cost more than the verdict


def nearest_plan(
    actions: Sequence[str], constraints: Sequence[Constraint], world: World, wished: Sequence[str]
) -> tuple[str, ...]:
    """Actions in the correct order with the fewest additions, omissions and swapped pairs against `wished`.

    Empty where there is none, or too many had to be looked at.
    """
    found: list[tuple[int, tuple[str, ...]]] = []
    left = MOST_STATES
    for demands in selections(actions, constraints, world):
        nearest, looked_at = _nearest(demands, wished, left)
        left -= looked_at
        if nearest:
            found.append(nearest)
        if left <= 0:
            return ()
    return min(found, key=lambda pair: pair[0])[1] if found else ()


def _nearest(
    demands: Demands, wished: Sequence[str], most: int
) -> tuple[tuple[int, tuple[str, ...]] | None, int]:
    """Price and plan, if there is one, and how many states were looked at."""
    places = demands.assign(wished)
    ignored = len(wished) - len(places)
    ahead = [
        sum(1 << other for other in places if places[other] < places[unit]) if unit in places else 0
        for unit in range(demands.size)
    ]
    begin = demands.timing.begin if demands.timing else 0
    price = (ignored + demands.size - len(places)) * demands.size**2
    queue: list[tuple[int, int, int, int, int, tuple[int, ...]]] = [(price, 0, 0, -1, begin, ())]
    seen = set[tuple[int, int, int]]()
    while queue and len(seen) < most:
        cost, _, done, forced, clock, path = heappop(queue)
        if len(path) == demands.size:
            return (cost, tuple(demands.tools[unit] for unit in path)), len(seen)
        if (done, forced, clock) in seen:
            continue
        seen.add((done, forced, clock))
        for unit, end in steps(demands, done, forced, clock):
            overtaken = (ahead[unit] & ~done).bit_count()
            further = (done | 1 << unit, demands.next.get(unit, -1), end, (*path, unit))
            heappush(queue, (cost + overtaken, -len(further[3]), *further))
    return None, len(seen)
