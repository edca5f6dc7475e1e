"""The meaning of constraints, as plainly as it can be put: the reference for whatever is faster.

Only the history of the last attempt counts. What was never carried out breaks nothing by itself: it is
lost, which is an error of its own.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import assert_never

import msgspec

from misstep.core.case import Case
from misstep.core.constraint import (
    Adjacent,
    Before,
    Choice,
    Condition,
    Constraint,
    Given,
    Handover,
    Limit,
    Place,
    Repeat,
    Spend,
    StandIn,
    Window,
)
from misstep.planning.world.simulator import Deed, History, ParameterSlip

WRONG_VALUES = ("value", "stale", "swapped")


def due(case: Case, history: History) -> dict[str, int]:
    """How often each action has to be carried out, as far as the history shows."""
    return {action.id: _due(action.id, case, history) for action in case.actions}


def lost(case: Case, history: History) -> tuple[str, ...]:
    """Actions due more often than they were carried out, unless a slip in a parameter prevented that.

    What was done in the place of an action counts, even if it was done too early, which is an error of its
    own. Of a choice of which nothing was carried out, all options are lost.
    """
    called = {action for slip in history.parameters for action in _meant(slip, case)}
    missing = {
        action
        for action, times in due(case, history).items()
        if len(_deeds_for(action, history, case)) < times and action not in called
    }
    for choice in case.constraints:
        if isinstance(choice, Choice):
            done = any(_deeds_for(option, history, case) for option in choice.options)
            if not done and not any(option in called for option in choice.options):
                missing |= set(choice.options)
    return tuple(action.id for action in case.actions if action.id in missing)


def holds(constraint: Constraint, history: History, case: Case) -> bool:
    """Whether nothing that was done breaks the constraint.

    Long on purpose: the whole definition, one kind below the other, can be read at once.
    """
    deeds = history.deeds
    match constraint:
        case Before():
            return not _early(constraint, history, case)
        case Window(action, edge, bound, time):
            moments = [deed.start if edge == "start" else deed.end for deed in _deeds_of(action, history)]
            return all(moment >= time if bound == "after" else moment <= time for moment in moments)
        case Handover(_, taker, parameter):
            slips = [slip for slip in _wrong_values(history) if slip.parameter == parameter]
            return not any(taker in _meant(slip, case) for slip in slips)
        case Given(action, arguments):
            slips = [slip for slip in _wrong_values(history) if slip.action == action]
            return not any(slip.parameter in arguments for slip in slips)
        case Adjacent(first, then):
            pairs = [(before.action, after.action) for before, after in pairwise(deeds)]
            leads = all(after == then for before, after in pairs if before == first)
            follows = all(before == first for before, after in pairs if after == then)
            return leads and follows and not (deeds and deeds[0].action == then)
        case Place(action, place):
            if place == "first":
                return not deeds or deeds[0].action == action
            return all(deed.action == action for deed in _after_first(action, deeds))
        case Choice(options):
            return sum(bool(_deeds_of(option, history)) for option in options) <= 1
        case Condition(asks, _, then, otherwise):
            dropped = otherwise if case.world.findings.get(asks, False) else then
            told = _after_first(asks, deeds)
            branches = [deed for deed in deeds if deed.action in (then, otherwise)]
            return all(deed.action != dropped and deed in told for deed in branches)
        case Repeat(action, times):
            return history.calls_of.get(action, 0) <= times
        case Limit(action, most):
            return all(deeds.index(deed) <= most for deed in _deeds_of(action, history)[:1])
        case Spend(most):
            return sum(case.world.costs.get(deed.by or deed.action, 0) for deed in deeds) <= most
        case StandIn(_, by):
            return not _deeds_of(by, history)
    assert_never(constraint)


def broken_at(constraint: Constraint, history: History, case: Case) -> int | None:
    """The call with which a history without slips breaks the constraint; None if it holds.

    For an order it is the one that came too early, even if only a later one showed that.
    """
    if holds(constraint, history, case):
        return None
    if isinstance(constraint, Before):
        return _early(constraint, history, case)[0].step
    deeds = history.deeds
    for number in range(1, len(deeds) + 1):
        begun = msgspec.structs.replace(history, deeds=deeds[:number])
        if not holds(constraint, begun, case):
            return deeds[number - 1].step
    return None


def _early(constraint: Before, history: History, case: Case) -> list[Deed]:
    """What was done before all was done that has to come first; what is announced binds from then on."""
    deeds, first = history.deeds, constraint.first
    bound = _after_first(constraint.announced, deeds) if constraint.announced else deeds
    needed = _due(first, case, history)
    return [
        deed
        for place, deed in enumerate(deeds)
        if deed in bound
        and deed.action == constraint.then
        and (_count(first, deeds[:place]) < needed or _count(first, deeds[place:]) > 0)
    ]


def _due(action: str, case: Case, history: History) -> int:
    stand_ins = [each for each in case.constraints if isinstance(each, StandIn)]
    times = [each.times for each in case.constraints if isinstance(each, Repeat) and each.action == action]
    if any(each.by == action for each in stand_ins):
        return 0
    if action in case.world.broken and not any(each.action == action for each in stand_ins):
        return 0
    for constraint in case.constraints:
        if isinstance(constraint, Choice) and action in constraint.options:
            return 0
        if isinstance(constraint, Condition) and action in (constraint.then, constraint.otherwise):
            reported = case.world.findings.get(constraint.asks, False)
            taken = constraint.then if reported else constraint.otherwise
            if action != taken or not _deeds_of(constraint.asks, history):
                return 0
    return times[0] if times else 1


def _deeds_of(action: str, history: History) -> list[Deed]:
    return [deed for deed in history.deeds if deed.action == action]


def _deeds_for(action: str, history: History, case: Case) -> list[Deed]:
    """What was done as the action or, too early, by what may stand in for it."""
    stand_ins = [c.by for c in case.constraints if isinstance(c, StandIn) and c.action == action]
    return [deed for deed in history.deeds if deed.action in (action, *stand_ins)]


def _count(action: str, deeds: Sequence[Deed]) -> int:
    return sum(deed.action == action for deed in deeds)


def _after_first(action: str, deeds: Sequence[Deed]) -> Sequence[Deed]:
    """What was done after the action had been carried out for the first time."""
    for place, deed in enumerate(deeds):
        if deed.action == action:
            return deeds[place + 1 :]
    return ()


def _wrong_values(history: History) -> list[ParameterSlip]:
    return [slip for slip in history.parameters if slip.fault in WRONG_VALUES]


def _meant(slip: ParameterSlip, case: Case) -> Iterable[str]:
    """The actions that a call with a slip was meant for: its own, and one that its tool stands in for."""
    yield slip.action
    for constraint in case.constraints:
        if isinstance(constraint, StandIn) and constraint.by == slip.action:
            yield constraint.action
