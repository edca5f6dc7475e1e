"""What a problem demands once every choice is made, as bitsets over units.

There is one unit for each time that an action is due.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import product
from math import factorial, prod

import msgspec

from misstep.core.case import World
from misstep.core.constraint import (
    Adjacent,
    Before,
    Choice,
    Condition,
    Constraint,
    Handover,
    Limit,
    Place,
    Repeat,
    Spend,
    StandIn,
    Window,
)
from misstep.planning.plans.order import bits


class UnitTimes(msgspec.Struct, frozen=True):
    """For each unit how long it takes, when it may start at the earliest and at the latest."""

    durations: tuple[int, ...]
    earliest: tuple[int, ...]
    latest: tuple[int, ...]
    begin: int

    def allows(self, unit: int, start: int) -> bool:
        return self.earliest[unit] <= start <= self.latest[unit]

    def has_room(self, units: Sequence[int], clock: int) -> bool:
        """Whether units can follow one another from some time on."""
        for unit in units:
            start = max(clock, self.earliest[unit])
            if start > self.latest[unit]:
                return False
            clock = start + self.durations[unit]
        return True


class Demands:
    """Units, what has to come before each, and what else there is to heed.

    `tools` names the action by whose tool a unit is carried out, `roles` the action that it counts as.
    `next` and `previous` hold neighbours. `announced` has, by the unit that is bound, pairs of the unit that
    announces it and the mask of units that have to come before once that is done. `limits` bound how much
    comes before a unit.
    """

    def __init__(self, roles: Sequence[str], tools: Sequence[str]) -> None:
        self.roles, self.tools = tuple(roles), tuple(tools)
        self.size = len(roles)
        self.before = [0] * self.size
        self.next: dict[int, int] = {}
        self.previous: dict[int, int] = {}
        self.announced: dict[int, list[tuple[int, int]]] = {}
        self.limits: list[tuple[int, int]] = []
        self.timing: UnitTimes | None = None
        self._units: dict[str, list[int]] = {}
        for unit, role in enumerate(roles):
            units = self._units.setdefault(role, [])
            if units:
                self.before[unit] |= (
                    1 << units[-1]
                )  # units of one action are alike: the lower number goes first
            units.append(unit)

    def units(self, role: str) -> Sequence[int]:
        """The units of an action; none if it is not due."""
        return self._units.get(role, ())

    def assign(self, roles: Sequence[str]) -> dict[int, int]:
        """The place of each unit among these actions; what is not due, or not so often, has none."""
        places: dict[int, int] = {}
        for place, role in enumerate(roles):
            unit = next((unit for unit in self.units(role) if unit not in places), None)
            if unit is not None:
                places[unit] = place
        return places

    @cached_property
    def is_plain(self) -> bool:
        """Whether there is nothing to heed but what comes before what."""
        return not (self.next or self.announced or self.limits or self.timing)

    def untimed(self) -> "Demands":
        """The same without regard to time."""
        same = copy(self)
        same.timing = None
        return same

    def by_urgency(self, clock: int) -> list[int]:
        """The units in the order in which they should be tried: nobody waits while there is something to do.

        Among those that can start, and among those that can't yet, the ones come first that must start
        soonest, or that something waits for which must.
        """
        timing = self.timing
        if timing is None:
            return list(range(self.size))
        latest = list(timing.latest)
        for _ in range(self.size):  # far enough for the longest chain
            for unit, mask in enumerate(self.before):
                for earlier in bits(mask):
                    latest[earlier] = min(latest[earlier], latest[unit])
        return sorted(range(self.size), key=lambda unit: (timing.earliest[unit] > clock, latest[unit]))

    @property
    def sequences(self) -> int:
        """In how many orders the units can be carried out, units of one action being alike."""
        return factorial(self.size) // prod(factorial(len(units)) for units in self._units.values())


def selections(actions: Sequence[str], constraints: Sequence[Constraint], world: World) -> Iterator[Demands]:
    """The demands of every way to choose that can be paid for.

    The world may be what an agent believes of it: a duration not known yet is none at all, and an action of
    which it is not known whether it is due is left out.
    """
    choices = [constraint for constraint in constraints if isinstance(constraint, Choice)]
    budgets = [constraint.most for constraint in constraints if isinstance(constraint, Spend)]
    for chosen in product(*(choice.options for choice in choices)):
        due = _due(actions, constraints, world, chosen)
        tools = [tool for _, tool in due]
        if all(sum(world.costs.get(tool, 0) for tool in tools) <= most for most in budgets):
            yield _demands(due, constraints, world)


def _due(
    actions: Sequence[str], constraints: Sequence[Constraint], world: World, chosen: Sequence[str]
) -> list[tuple[str, str]]:
    """Role and tool of every unit, in the order of the actions."""
    times = dict.fromkeys(actions, 1)
    times |= {
        constraint.action: constraint.times for constraint in constraints if isinstance(constraint, Repeat)
    }
    tools = {action: action for action in actions}
    for constraint in constraints:
        match constraint:
            case Choice(options):
                times |= {option: 0 for option in options if option not in chosen}
            case Condition(asks, _, then, otherwise):
                reported = world.findings.get(asks)
                times |= {
                    branch: 0
                    for branch, wanted in ((then, True), (otherwise, False))
                    if branch and reported is not wanted
                }
            case StandIn(action, by):
                times[by] = 0
                tools[action] = by if action in world.broken else action
    return [
        (action, tools[action])
        for action in actions
        for _ in range(times[action])
        if tools[action] not in world.broken
    ]


def _demands(due: Sequence[tuple[str, str]], constraints: Sequence[Constraint], world: World) -> Demands:
    demands = Demands([role for role, _ in due], [tool for _, tool in due])
    for constraint in constraints:
        match constraint:
            case Before(first, then, _, announced):
                _order(demands, first, then, announced)
            case Handover(giver, taker):
                _order_units(demands, demands.units(giver)[:1], demands.units(taker))
            case Condition(asks, _, then, otherwise):
                for branch in (then, otherwise):
                    _order_units(demands, demands.units(asks)[:1], demands.units(branch))
            case Adjacent(first, then):
                for one, other in zip(demands.units(first), demands.units(then), strict=False):
                    demands.next[one], demands.previous[other] = other, one
                    demands.before[other] |= 1 << one
            case Place(action, place):
                _put(demands, demands.units(action), place)
            case Limit(action, most):
                demands.limits += [(unit, most) for unit in demands.units(action)[:1]]
    if world.day:
        demands.timing = _timing(demands, constraints, world, world.day)
    return demands


def _order(demands: Demands, first: str, then: str, announced: str) -> None:
    earlier, later = demands.units(first), demands.units(then)
    if not announced:
        _order_units(demands, earlier, later)
    elif earlier:
        mask = sum(1 << unit for unit in earlier)
        for voice in demands.units(announced)[:1]:
            for unit in later:
                demands.announced.setdefault(unit, []).append((voice, mask))


def _order_units(demands: Demands, earlier: Sequence[int], later: Sequence[int]) -> None:
    mask = sum(1 << unit for unit in earlier)
    for unit in later:
        demands.before[unit] |= mask


def _put(demands: Demands, units: Sequence[int], place: str) -> None:
    others = [unit for unit in range(demands.size) if unit not in units]
    if place == "last":
        _order_units(demands, others, units)
    else:
        _order_units(demands, units[:1], others)


def _timing(
    demands: Demands, constraints: Sequence[Constraint], world: World, day: tuple[int, int]
) -> UnitTimes:
    durations = [world.durations.get(tool, 0) for tool in demands.tools]
    earliest = [day[0]] * demands.size
    latest = [day[1] - duration for duration in durations]
    for constraint in constraints:
        if isinstance(constraint, Window):
            for unit in demands.units(constraint.action):
                start = constraint.time - (durations[unit] if constraint.edge == "end" else 0)
                if constraint.bound == "after":
                    earliest[unit] = max(earliest[unit], start)
                else:
                    latest[unit] = min(latest[unit], start)
    return UnitTimes(tuple(durations), tuple(earliest), tuple(latest), day[0])
