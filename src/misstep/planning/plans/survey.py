"""Properties of a whole problem: a correct plan, the chance level, and whether each constraint matters."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product

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
from misstep.planning.plans.demands import selections
from misstep.planning.plans.search import TooManyPlans, count_plans, find_plan


class Survey(msgspec.Struct, frozen=True):
    """`witness` is a correct order of actions, empty if there is no plan; `chance` is the chance level.

    A random agent picks any option, takes either branch, and executes what it has picked in any order, as
    often as asked and at the best times. It gets everything else right.
    """

    witness: tuple[str, ...]
    chance: float


def survey(actions: Sequence[str], constraints: Sequence[Constraint], world: World) -> Survey:
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


def least_cost(actions: Sequence[str], constraints: Sequence[Constraint], world: World) -> int | None:
    """The cost of the cheapest correct plan; None if there is none, or finding it takes too long."""
    best: int | None = None
    for demands in selections(actions, constraints, world):
        cost = sum(world.costs.get(tool, 0) for tool in demands.tools)
        with suppress(TooManyPlans):
            if (best is None or cost < best) and find_plan(demands) is not None:
                best = cost
    return best


def possible_worlds(constraints: Sequence[Constraint], world: World) -> Iterator[World]:
    """The world with every combination of findings, which can't be known from the request."""
    asks = list(dict.fromkeys(c.asks for c in constraints if isinstance(c, Condition)))
    for reported in product((True, False), repeat=len(asks)):
        yield msgspec.structs.replace(world, findings=dict(zip(asks, reported, strict=True)))


def find_idle(actions: Sequence[str], constraints: Sequence[Constraint], world: World) -> Constraint | None:
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


def _binds(
    constraint: Constraint, actions: Sequence[str], constraints: Sequence[Constraint], world: World
) -> bool:
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


def _rules_out(
    constraint: Constraint, actions: Sequence[str], others: Sequence[Constraint], world: World
) -> bool:
    """Whether it reduces the number of plans, given the best times."""
    untimed = msgspec.structs.replace(world, day=None)
    counts = [
        sum(count_plans(demands) for demands in selections(actions, said, untimed))
        for said in (others, [*others, constraint])
    ]
    return counts[0] > counts[1]


def _can_be_missed(
    window: Window, actions: Sequence[str], others: Sequence[Constraint], world: World
) -> bool:
    """Whether some plan has the action just outside the window."""
    if window.bound == "after":
        wrong = msgspec.structs.replace(window, bound="before", time=window.time - 1)
    else:
        wrong = msgspec.structs.replace(window, bound="after", time=window.time + 1)
    return any(
        demands.units(window.action) and find_plan(demands) is not None
        for demands in selections(actions, [*others, wrong], world)
    )
