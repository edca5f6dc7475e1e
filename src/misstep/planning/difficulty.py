"""Measures how hard cases are, and picks those that are hard enough."""

import operator
import re
from collections.abc import Callable, Sequence

import msgspec

from misstep.core.case import Case
from misstep.core.constraint import Adjacent, Before, Condition, Constraint, Handover
from misstep.core.difficulty import MEASURES, Difficulty
from misstep.errors import UsageError, did_you_mean
from misstep.planning.baselines import in_text_order
from misstep.planning.plans.nearest import nearest_plan
from misstep.planning.plans.order import Order, nearest_order

CHARACTERS = 4  # to a token, roughly, in English


class Bound(msgspec.Struct, frozen=True):
    """One thing that is asked of a case, such as `chain>=3`."""

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


def parse_bounds(given: Sequence[str]) -> tuple[Bound, ...]:
    """Bounds from texts; a `UsageError` for one that makes no sense."""
    return tuple([_parse_bound(text) for text in given])


def _parse_bound(text: str) -> Bound:
    match = re.fullmatch(r"\s*([a-z]+)\s*(<=|>=|<|>|=)\s*(\d{1,9}(?:\.\d{1,9})?)\s*", text)
    expected = "expected a measure, a sign and a number, such as chain>=3 or chance<0.1"
    if not match:
        raise UsageError(f"difficulty {text!r} won't do", expected)
    if match[1] not in MEASURES:
        known = f"known: {', '.join(MEASURES)}"
        raise UsageError(
            f"unknown measure of difficulty '{match[1]}'", known, did_you_mean(match[1], MEASURES)
        )
    return Bound(match[1], match[2], float(match[3]))


def measure(case: Case) -> Difficulty:
    return Difficulty(
        chance=case.chance or 0.0,
        actions=len(case.actions),
        constraints=len(case.constraints),
        chain=_chain(case),
        reading=_distance(case),
        tokens=-(-len(case.query) // CHARACTERS),
    )


def _relations(constraint: Constraint) -> list[tuple[str, str]]:
    """What is bound to come before what."""
    match constraint:
        case Before(first, then) | Adjacent(first, then) | Handover(first, then):
            return [(first, then)]
        case Condition(asks, _, then, otherwise):
            return [(asks, branch) for branch in (then, otherwise) if branch]
        case _:
            return []


def _order(case: Case) -> Order:
    numbers = {action.id: number for number, action in enumerate(case.actions)}
    order = Order(len(numbers))
    for constraint in case.constraints:
        for first, then in _relations(constraint):
            order.add(numbers[first], numbers[then])
    return order


def _chain(case: Case) -> int:
    """The longest path through a closed order: actions with few before them come first."""
    before = _order(case).before
    lengths = [0] * len(before)
    for action in sorted(range(len(before)), key=lambda action: before[action].bit_count()):
        earlier = [lengths[other] for other in range(len(before)) if before[action] >> other & 1]
        lengths[action] = 1 + max(earlier, default=0)
    return max(lengths, default=0)


def _distance(case: Case) -> int:
    """Pairs that stand in the text the other way round than in the correct order nearest to it."""
    mentioned = in_text_order(case)
    ids = [action.id for action in case.actions]
    if all(type(constraint) is Before and not constraint.announced for constraint in case.constraints):
        nearest = [ids[i] for i in nearest_order(_order(case), [ids.index(action) for action in mentioned])]
    else:
        # Where that would take too long, any correct order is better than none.
        nearest = list(nearest_plan(ids, case.constraints, case.world, mentioned) or case.witness)
    places = {action: place for place, action in enumerate(mentioned)}
    kept = [places[action] for action in dict.fromkeys(nearest) if action in places]
    return sum(one > other for place, one in enumerate(kept) for other in kept[place + 1 :])
