"""What a problem demands once every choice is made, as bitsets over units.

There is one unit for each time that an action is due.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import product
from math import factorial, prod
from typing import TypeAlias

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
from misstep.planning.plans.order import Order, bits

Constraints: TypeAlias = Sequence[Constraint]


class UnitTimes(msgspec.Struct, frozen=True):
    durations: tuple[int, ...]
    earliest: tuple[int, ...]
    latest: tuple[int, ...]
    begin: int

    def has_room(self, units: Sequence[int], clock: int) -> bool:
        """Whether units can follow one another from a given time on."""
        for unit in units:
            start = max(clock, self.earliest[unit])
            if start > self.latest[unit]:
                return False
            clock = start + self.durations[unit]
        return True


class Demands:
    """Units, their predecessors, and all other demands.

    `tools` names the action whose tool executes a unit, `roles` the action that it counts as. `next` and
    `previous` hold required neighbours. `announced` maps a unit to pairs: the unit whose result announces the
    constraint, and the mask of units that have to come before once that is done. `limits` bound how many
    units come before a unit.
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
            if units:  # units of one action are interchangeable: the lower number goes first
                self.before[unit] |= 1 << units[-1]
            units.append(unit)

    def units(self, role: str) -> Sequence[int]:
        """The units of an action; empty if it is not due."""
        return self._units.get(role, ())

    def assign(self, roles: Sequence[str]) -> dict[int, int]:
        """The position of each unit among these actions; actions that are not due (so often) have none."""
        places: dict[int, int] = {}
        for place, role in enumerate(roles):
            unit = next((unit for unit in self.units(role) if unit not in places), None)
            if unit is not None:
                places[unit] = place
        return places

    @cached_property
    def is_plain(self) -> bool:
        """Whether only the order of units matters."""
        return not (self.next or self.announced or self.limits or self.timing)

    def order(self) -> Order | None:
        """The plain order of the units; None if it contradicts itself."""
        pairs = [(earlier, unit) for unit, mask in enumerate(self.before) for earlier in bits(mask)]
        try:
            return Order(self.size, pairs)
        except ValueError:
            return None

    def untimed(self) -> "Demands":
        same = copy(self)
        same.timing = None
        return same

    def by_urgency(self, clock: int) -> list[int]:
        """The units in the order in which to try them, so that no time is wasted waiting.

        Units that can start now come first. Within each group, those come first that must start soonest,
        themselves or because of a unit that depends on them.
        """
        timing = self.timing
        if timing is None:
            return list(range(self.size))
        latest = list(timing.latest)
        for _ in range(self.size):  # enough rounds for the longest chain
            for unit, mask in enumerate(self.before):
                for earlier in bits(mask):
                    latest[earlier] = min(latest[earlier], latest[unit])
        return sorted(range(self.size), key=lambda unit: (timing.earliest[unit] > clock, latest[unit]))

    @property
    def sequences(self) -> int:
        """The number of orders of the units, with units of one action interchangeable."""
        return factorial(self.size) // prod(factorial(len(units)) for units in self._units.values())


def selections(actions: Sequence[str], constraints: Constraints, world: World) -> Iterator[Demands]:
    """The demands of every combination of choices within the budget.

    The world may be what an agent believes: an unknown duration counts as 0, and an action that may or may
    not be due is left out.
    """
    choices = [constraint for constraint in constraints if isinstance(constraint, Choice)]
    budgets = [constraint.most for constraint in constraints if isinstance(constraint, Spend)]
    for chosen in product(*(choice.options for choice in choices)):
        due = _due(actions, constraints, world, chosen)
        tools = [tool for _, tool in due]
        if all(sum(world.costs.get(tool, 0) for tool in tools) <= most for most in budgets):
            yield _demands(due, constraints, world)


def _due(
    actions: Sequence[str], constraints: Constraints, world: World, chosen: Sequence[str]
) -> list[tuple[str, str]]:
    times = dict.fromkeys(actions, 1)
    times |= {said.action: said.times for said in constraints if isinstance(said, Repeat)}
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


def _demands(due: Sequence[tuple[str, str]], constraints: Constraints, world: World) -> Demands:
    demands = Demands([role for role, _ in due], [tool for _, tool in due])
    for constraint in constraints:
        match constraint:
            case Before(first, then, _, ""):
                _order_units(demands, demands.units(first), demands.units(then))
            case Before(first, then, _, announced):
                mask = sum(1 << unit for unit in demands.units(first))
                for voice in demands.units(announced)[:1] if mask else ():
                    for unit in demands.units(then):
                        demands.announced.setdefault(unit, []).append((voice, mask))
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
                units = demands.units(action)
                others = [unit for unit in range(demands.size) if unit not in units]
                if place == "last":
                    _order_units(demands, others, units)
                else:
                    _order_units(demands, units[:1], others)
            case Limit(action, most):
                demands.limits += [(unit, most) for unit in demands.units(action)[:1]]
    if world.day:
        demands.timing = _timing(demands, constraints, world, world.day)
    return demands


def _order_units(demands: Demands, earlier: Sequence[int], later: Sequence[int]) -> None:
    mask = sum(1 << unit for unit in earlier)
    for unit in later:
        demands.before[unit] |= mask


def _timing(demands: Demands, constraints: Constraints, world: World, day: tuple[int, int]) -> UnitTimes:
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
