"""Measures how hard cases are, selects hard ones, and computes two baselines without running an agent.

*Text order* follows the text, takes the first named of two alternatives or branches, and gets everything else
right. *Ignores the family* obeys "before" and "after", executes each action once as soon as it can, and
ignores the rest; in a case with ordering constraints only it ignores those too.
"""

import operator
import re
from collections.abc import Callable, Sequence

import msgspec

from misstep.core.case import MEASURES, Baselines, Case, Difficulty, World, families_of, plain_order
from misstep.core.constraint import Before, Choice, Condition, Constraint, Handover, Repeat, StandIn
from misstep.errors import UsageError, did_you_mean
from misstep.planning.plans.demands import Demands, selections
from misstep.planning.plans.order import Order, first_available, loose_order, nearest_order, relations_of
from misstep.planning.plans.search import ends_of, nearest_plan


def baselines(case: Case) -> Baselines:
    named = in_text_order(case)
    plain = plain_order(case)
    if plain is not None:
        places = {action: place for place, action in enumerate(named)}
        passes = float(all([places[said.first] < places[said.then] for said in plain]))
        return Baselines(passes, passes)
    demands = _first_named(named, case.constraints, case.world)
    follows = demands is not None and _is_right(demands, waits=True)
    return Baselines(float(follows), float(_ignores_family(case, named)))


def in_text_order(case: Case) -> list[str]:
    """All actions in the order in which the text first names them; unnamed ones come last."""
    text = " ".join(case.sentences or (case.query,)).lower()
    places = {action.id: text.find(f"the {action.name.lower()}") for action in case.actions}
    return sorted(places, key=lambda action: places[action] if places[action] >= 0 else len(text))


def _ignores_family(case: Case, named: Sequence[str]) -> bool:
    world = case.world
    more = [said for said in case.constraints if isinstance(said, Repeat | Handover | StandIn)]
    if world.failures or any(not isinstance(said, StandIn) or said.action in world.broken for said in more):
        return False
    numbers = {action: number for number, action in enumerate(named)}
    obeyed = [] if families_of(case) == ["order"] else case.constraints
    before = [said for said in obeyed if isinstance(said, Before) and not said.announced]
    order = loose_order(len(named), [(numbers[said.first], numbers[said.then]) for said in before])
    arranged = [named[number] for number in first_available(order.before)]
    demands = _first_named(arranged, case.constraints, world)
    return demands is not None and _is_right(demands, waits=False)


def _first_named(named: Sequence[str], constraints: Sequence[Constraint], world: World) -> Demands | None:
    """The demands on an agent that takes what is named first; None if that choice is wrong.

    Units are numbered in the order of the names.
    """
    picked = set[str]()
    for said in constraints:
        if isinstance(said, Choice):
            picked.add(min(said.options, key=named.index))
        elif isinstance(said, Condition):
            picked.add(min([branch for branch in (said.then, said.otherwise) if branch], key=named.index))
    ways = selections(named, constraints, world)
    return next((demands for demands in ways if picked <= {*demands.roles}), None)


def _is_right(demands: Demands, waits: bool) -> bool:
    """Whether the units can be executed in order of their numbers, waiting for the earliest start or not."""
    timing, ends = demands.timing, ends_of(demands, range(demands.size))
    if ends is None or timing is None or waits:
        return ends is not None
    return all(
        clock >= earliest for clock, earliest in zip([timing.begin, *ends], timing.earliest, strict=False)
    )


CHARACTERS = 4  # per token, roughly, in English


class DifficultyBound(msgspec.Struct, frozen=True):
    """A condition on a measure, such as `chain>=3`."""

    measure: str
    sign: str
    limit: float

    def admits(self, difficulty: Difficulty) -> bool:
        return _SIGNS[self.sign](getattr(difficulty, self.measure), self.limit)


_SIGNS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}


def parse_bounds(given: Sequence[str]) -> tuple[DifficultyBound, ...]:
    bounds = list[DifficultyBound]()
    for text in given:
        match = re.fullmatch(r"\s*([a-z]+)\s*(<=|>=|<|>|=)\s*(\d{1,9}(?:\.\d{1,9})?)\s*", text)
        if not match:
            expected = "expected a measure, a sign and a number, such as chain>=3 or chance<0.1"
            raise UsageError(f"invalid difficulty {text!r}", expected)
        name, sign, limit = match.groups()
        if name not in MEASURES:
            known = f"known: {', '.join(MEASURES)}"
            raise UsageError(f"unknown measure of difficulty '{name}'", known, did_you_mean(name, MEASURES))
        bounds.append(DifficultyBound(name, sign, float(limit)))
    return tuple(bounds)


def measure(case: Case) -> Difficulty:
    return Difficulty(
        chance=case.chance or 0.0,
        actions=len(case.actions),
        constraints=len(case.constraints),
        chain=_chain(case),
        reading=_distance(case),
        tokens=-(-len(case.query) // CHARACTERS),
    )


def _order(case: Case) -> Order:
    numbers = {action.id: number for number, action in enumerate(case.actions)}
    pairs = [pair for constraint in case.constraints for pair in relations_of(constraint)]
    return loose_order(len(numbers), [(numbers[first], numbers[then]) for first, then in pairs])


def _chain(case: Case) -> int:
    """The longest path through a transitively closed order: actions with few predecessors come first."""
    before = _order(case).before
    lengths = [0] * len(before)
    for action in sorted(range(len(before)), key=lambda action: before[action].bit_count()):
        earlier = [lengths[other] for other in range(len(before)) if before[action] >> other & 1]
        lengths[action] = 1 + max(earlier, default=0)
    return max(lengths, default=0)


def _distance(case: Case) -> int:
    """Pairs whose order in the text differs from the nearest correct order."""
    mentioned = in_text_order(case)
    ids = [action.id for action in case.actions]
    if all(type(constraint) is Before and not constraint.announced for constraint in case.constraints):
        nearest = [ids[i] for i in nearest_order(_order(case), [ids.index(action) for action in mentioned])]
    else:
        # If that would take too long, any correct order is better than none.
        nearest = list(nearest_plan(ids, case.constraints, case.world, mentioned) or case.witness)
    places = {action: place for place, action in enumerate(mentioned)}
    kept = [places[action] for action in dict.fromkeys(nearest) if action in places]
    return sum(one > other for place, one in enumerate(kept) for other in kept[place + 1 :])
