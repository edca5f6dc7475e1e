"""Searches for correct plans, counts them, and finds the nearest; surveys a whole problem."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from heapq import heappop, heappush
from itertools import product
from math import factorial

import msgspec

from misstep.core.case import World
from misstep.core.constraint import (
    Adjacent,
    Before,
    Choice,
    Condition,
    Constraint,
    Limit,
    Place,
    Spend,
    Window,
)
from misstep.errors import MisstepError
from misstep.planning.plans.demands import Constraints, Demands, selections
from misstep.planning.plans.order import Order, count_orders, first_available

MOST_STATES = 200_000  # visited before a search gives up


class TooManyPlans(MisstepError):
    """A search has visited as many states as allowed."""


def find_plan(
    demands: Demands, done: int = 0, last: int = -1, clock: int = 0, ranked: Sequence[int] = ()
) -> list[int] | None:
    """A correct way to complete the plan, lowest units first or as ranked; None if there is none.

    `clock` is when the last unit ended. Starting early is never worse, so times need no search.
    """
    whole = (1 << demands.size) - 1
    hopeless: dict[tuple[int, int], int] = {}  # from which time on completion is impossible
    path = list[int]()

    def finish(done: int, forced: int, clock: int) -> bool:
        """Extend the path to the end; False, with the path unchanged, if that is impossible."""
        if done == whole:
            return True
        key = (done, forced)
        if clock >= hopeless.get(key, 1 << 60):
            return False
        for unit, end in steps(demands, done, forced, clock, ranked):
            path.append(unit)
            if finish(done | 1 << unit, demands.next.get(unit, -1), end):
                return True
            path.pop()
        hopeless[key] = clock
        if len(hopeless) > MOST_STATES:
            raise _too_many()
        return False

    clock = max(clock, demands.timing.begin if demands.timing else 0)
    return path if finish(done, demands.next.get(last, -1), clock) else None


def count_plans(demands: Demands) -> int:
    """How many orders of all units are correct, given the best times for each."""
    if demands.is_plain:
        order = demands.order()
        return count_orders(tuple(order.before)) if order else 0
    begin = demands.timing.begin if demands.timing else 0
    layer: dict[tuple[int, int, int], int] = {(0, -1, begin): 1}
    seen = 0
    for _ in range(demands.size):
        further: dict[tuple[int, int, int], int] = {}
        for (done, forced, clock), ways in layer.items():
            for unit, end in steps(demands, done, forced, clock):
                state = (done | 1 << unit, demands.next.get(unit, -1), end)
                further[state] = further.get(state, 0) + ways
        layer = further
        seen += len(layer)
        if seen > MOST_STATES:
            raise _too_many()
    return sum(layer.values())


def steps(
    demands: Demands, done: int, forced: int, clock: int, ranked: Sequence[int] = ()
) -> Iterator[tuple[int, int]]:
    """The units that may come next, each with the time at which it would end."""
    timing = demands.timing
    for unit in (ranked or range(demands.size)) if forced < 0 else (forced,):
        if not may_follow(demands, done, forced, unit):
            continue
        if timing is None:
            yield unit, 0
        else:
            start = max(clock, timing.earliest[unit])
            if start <= timing.latest[unit]:
                yield unit, start + timing.durations[unit]


def ends_of(demands: Demands, units: Sequence[int]) -> list[int] | None:
    """When each unit ends if they are executed in this order, as early as possible; None if it is wrong."""
    done, forced, clock = 0, -1, demands.timing.begin if demands.timing else 0
    ends = list[int]()
    for unit in units:
        end = dict(steps(demands, done, forced, clock)).get(unit)
        if end is None:
            return None
        done, forced, clock = done | 1 << unit, demands.next.get(unit, -1), end
        ends.append(end)
    return ends


def may_follow(demands: Demands, done: int, forced: int, unit: int) -> bool:
    """Whether a unit may come next, ignoring time; `forced` is the one that has to, if there is one."""
    if done >> unit & 1 or demands.before[unit] & ~done:
        return False
    if unit != forced and (forced >= 0 or unit in demands.previous):
        return False  # something would come between neighbours
    for bound, most in demands.limits:
        if bound == unit and done.bit_count() > most:
            return False
    return not any([done >> voice & 1 and mask & ~done for voice, mask in demands.announced.get(unit, ())])


def _too_many() -> TooManyPlans:
    return TooManyPlans(f"there are more than {MOST_STATES:,} partial plans", "take fewer actions")


MOST_NEAREST = 5_000  # limit, because the nearest plan is optional and must not cost more than the verdict


def nearest_plan(
    actions: Sequence[str], constraints: Constraints, world: World, wished: Sequence[str]
) -> tuple[str, ...]:
    """Actions in the correct order with the fewest additions, omissions and swapped pairs against `wished`.

    Empty if there is none, or if the search would take too long.
    """
    found: list[tuple[int, tuple[str, ...]]] = []
    left = MOST_NEAREST
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
    """Cost and plan, if there is one, and the number of states visited."""
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


class Survey(msgspec.Struct, frozen=True):
    """`witness` is a correct order of actions, empty if there is no plan; `chance` is the chance level.

    A random agent picks any option, takes either branch, and executes what it has picked in any order, as
    often as asked and at the best times. It gets everything else right.
    """

    witness: tuple[str, ...]
    chance: float


def survey_order(actions: Sequence[str], order: Order) -> Survey:
    witness = tuple([actions[i] for i in first_available(order.before)])
    return Survey(witness, count_orders(tuple(order.before)) / factorial(order.size))


def survey(actions: Sequence[str], constraints: Constraints, world: World) -> Survey:
    witness: tuple[str, ...] = ()
    share = 0.0
    for demands in selections(actions, constraints, world):
        share += count_plans(demands) / demands.sequences
        if not witness:
            plan = find_plan(demands) or ()
            witness = tuple(demands.tools[unit] for unit in plan)
    for constraint in constraints:
        if isinstance(constraint, Choice):
            share /= len(constraint.options)
        elif isinstance(constraint, Condition):
            share /= 2
    return Survey(witness, share)


def least_cost(actions: Sequence[str], constraints: Constraints, world: World) -> int | None:
    """The cost of the cheapest correct plan; None if there is none, or finding it takes too long."""
    best: int | None = None
    for demands in selections(actions, constraints, world):
        cost = sum(world.costs.get(tool, 0) for tool in demands.tools)
        with suppress(TooManyPlans):
            if (best is None or cost < best) and find_plan(demands) is not None:
                best = cost
    return best


def possible_worlds(constraints: Constraints, world: World) -> Iterator[World]:
    """The world with every combination of findings, which can't be known from the request."""
    asks = list(dict.fromkeys(c.asks for c in constraints if isinstance(c, Condition)))
    for reported in product((True, False), repeat=len(asks)):
        yield msgspec.structs.replace(world, findings=dict(zip(asks, reported, strict=True)))


def find_idle(actions: Sequence[str], constraints: Constraints, world: World) -> Constraint | None:
    """A constraint that can't be broken without breaking others; None if there is none.

    Order and times may follow from other order and times, as long as nothing else implies them; how long
    tasks take is not in the request. Choices, conditions, repetitions, values and stand-ins can always be got
    wrong.
    """
    worlds = list(possible_worlds(constraints, world))
    for constraint in constraints:
        if not any(_binds(constraint, actions, constraints, possible) for possible in worlds):
            return constraint
    return None


def _binds(constraint: Constraint, actions: Sequence[str], constraints: Constraints, world: World) -> bool:
    others = [other for other in constraints if other is not constraint and not isinstance(other, Window)]
    plain = [other for other in others if not isinstance(other, Before) or other.announced]
    match constraint:
        case Window():
            return _can_be_missed(constraint, actions, plain, world)
        case Before(announced=""):
            return _rules_out(constraint, actions, plain, world)
        case Before(first, then, _, voice):
            wrong = [Before(voice, then), Before(then, first)]
            untimed = msgspec.structs.replace(world, day=None)
            return any(find_plan(demands) for demands in selections(actions, [*others, *wrong], untimed))
        case Adjacent() | Place() | Limit() | Spend():
            return _rules_out(constraint, actions, others, world)
        case _:
            return True


def _rules_out(constraint: Constraint, actions: Sequence[str], others: Constraints, world: World) -> bool:
    """Whether it reduces the number of plans, given the best times."""
    untimed = msgspec.structs.replace(world, day=None)
    counts = [
        sum(count_plans(demands) for demands in selections(actions, said, untimed))
        for said in (others, [*others, constraint])
    ]
    return counts[0] > counts[1]


def _can_be_missed(window: Window, actions: Sequence[str], others: Constraints, world: World) -> bool:
    """Whether some plan has the action just outside the window."""
    bound, time = ("before", window.time - 1) if window.bound == "after" else ("after", window.time + 1)
    wrong = msgspec.structs.replace(window, bound=bound, time=time)
    return any(
        demands.units(window.action) and find_plan(demands) is not None
        for demands in selections(actions, [*others, wrong], world)
    )
