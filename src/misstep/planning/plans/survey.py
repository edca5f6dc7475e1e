"""What can be said of a problem as a whole: one correct plan, and how likely blind luck finds one."""

from collections.abc import Sequence
from contextlib import suppress

import msgspec

from misstep.core.case import World
from misstep.core.constraint import Choice, Condition, Constraint
from misstep.planning.plans.demands import selections
from misstep.planning.plans.search import TooManyPlans, count_plans, find_plan


class Survey(msgspec.Struct, frozen=True):
    """`witness` are actions in a correct order, none where there is no plan; `chance` is that of blind luck.

    Blind luck picks any option, takes either branch, and carries out what it has picked in any order, as
    often as asked and at the best times. Everything else it gets right.
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
    """What the cheapest correct plan costs; None where there is none, or finding it takes too long."""
    best: int | None = None
    for demands in selections(actions, constraints, world):
        cost = sum(world.costs.get(tool, 0) for tool in demands.tools)
        with suppress(TooManyPlans):
            if (best is None or cost < best) and find_plan(demands) is not None:
                best = cost
    return best
