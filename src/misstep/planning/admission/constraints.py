"""Checks that the constraints of a case make sense, individually and together."""

import re
from collections.abc import Sequence
from typing import Any, NoReturn, assert_never

from misstep.core.case import Action, Case
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
from misstep.errors import UsageError
from misstep.planning.language.requests import clock
from misstep.planning.world.tool_table import START_TIME
from misstep.schemas.schema import fits

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # valid names of tools and parameters for models
MOST_TIMES = 9  # maximum number of repetitions of an action


def check_constraints(case: Case) -> None:
    """Raise `UsageError` for the first invalid constraint. The world must have been checked already."""
    ids = [action.id for action in case.actions]
    for index, constraint in enumerate(case.constraints):
        for action in actions_of(constraint):
            if action not in ids:
                _refuse(index, f"refers to an unknown action {action!r}", f"known: {', '.join(ids)}")
        _check_sentence(case, index, constraint.sentence)
    checker = _Checker(case)
    for index, constraint in enumerate(case.constraints):
        checker.check(index, constraint)
    announcing = [c.announced for c in case.constraints if isinstance(c, Before)]
    for action in case.world.announcements:
        if action not in announcing:
            raise UsageError(
                f"world.announcements.{action} has no constraint", "expected a constraint announced by it"
            )
    for each in case.actions:
        if each.parameters is not None:
            _check_own_tool(case, each, each.parameters)


def actions_of(constraint: Constraint) -> Sequence[str]:
    match constraint:
        case Before(first, then, _, announced):
            return (first, then, announced) if announced else (first, then)
        case Adjacent(first, then) | Handover(first, then) | StandIn(first, then):
            return (first, then)
        case Condition(asks, _, then, otherwise):
            return (asks, then, otherwise) if otherwise else (asks, then)
        case Choice(options):
            return options
        case Window(action) | Place(action) | Repeat(action) | Limit(action) | Given(action):
            return (action,)
        case Spend():
            return ()
    assert_never(constraint)


class _Checker:
    """Knows which actions are optional and which are repeated."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._optional: dict[str, int] = {}
        self._seen: dict[tuple[str, ...], int] = {}
        self._repeated = [c.action for c in case.constraints if isinstance(c, Repeat)]
        self._replacing = {c.by: c.action for c in case.constraints if isinstance(c, StandIn)}
        replaced = self._replacing.values()
        self._out_of_service = [action for action in case.world.broken if action not in replaced]
        for index, constraint in enumerate(case.constraints):
            for action in optional_in(constraint):
                if action in self._optional:
                    _refuse(
                        index,
                        f"makes {action!r} optional, as constraint {self._optional[action]} does already",
                        "an action is an option of one choice, a branch of one condition, or one stand-in",
                    )
                self._optional[action] = index

    def check(self, index: int, constraint: Constraint) -> None:
        names = actions_of(constraint)
        plain = isinstance(constraint, Before) and not constraint.announced
        if len(set(names)) < len(names) and not plain:
            _refuse(index, "names an action twice", f"given: {', '.join(names)}")
        match constraint:
            case Before(announced=announced):
                if announced and announced not in self._case.world.announcements:
                    _refuse(
                        index, f"is announced by {announced!r}", "world.announcements does not contain it"
                    )
            case Window(time=time):
                self._check_time(index, time)
            case Handover():
                self._check_handover(index, constraint)
            case Given():
                self._check_given(index, constraint)
            case Adjacent():
                self._check_in_service(index, *names)
                for action in names:
                    self._check_due(index, action)
                    if action in self._repeated:
                        _refuse(index, f"binds {action!r}, which is repeated", "expected one time only")
            case Place(action):
                self._check_in_service(index, action)
                self._check_due(index, action)
            case Choice(options):
                if len(options) < 2:
                    _refuse(index, f"leaves no choice: {', '.join(options)}", "expected two options or more")
                self._check_in_service(index, *options)
            case Condition():
                self._check_condition(index, constraint)
            case Repeat(action, times):
                self._check_repeat(index, action, times)
            case Limit(most=most):
                if most < 1:
                    _refuse(index, f"allows {most} actions before another", "expected 1 or more")
            case Spend(most):
                if most < 0 or not self._case.world.costs:
                    _refuse(index, f"bounds the costs by {most}", "expected 0 or more, and world.costs")
            case StandIn(action, by):
                self._check_once(index, "stand-in", action)
                if by in self._case.world.broken:
                    _refuse(index, f"lets {by!r} stand in", "world.broken says that it is out of service")
            case _:
                assert_never(constraint)

    def _check_time(self, index: int, time: int) -> None:
        day = self._case.world.day
        if day is None:
            _refuse(index, "mentions a time", "world.day says when the day begins and ends")
        if not day[0] <= time <= day[1]:
            expected = f"the day runs from {day[0]} to {day[1]}, {clock(day[0])} to {clock(day[1])}"
            _refuse(index, f"mentions minute {time}", expected)

    def _check_handover(self, index: int, constraint: Handover) -> None:
        giver, taker, parameter = constraint.giver, constraint.taker, constraint.parameter
        self._check_due(index, giver)
        self._check_in_service(index, giver)
        if taker in self._replacing:
            _refuse(index, f"passes a value to the stand-in {taker!r}", "name the action that it replaces")
        if not NAME.fullmatch(parameter) or (self._case.world.day and parameter == START_TIME):
            expected = f"1 to 64 letters, digits, '_' or '-', not {START_TIME}"
            _refuse(index, f"has the parameter {parameter!r}", f"expected {expected}")
        if parameter not in self._case.world.values.get(giver, {}):
            _refuse(index, f"hands over {parameter!r}", f"world.values.{giver} has no such value")
        for action in (taker, *[by for by, replaced in self._replacing.items() if replaced == taker]):
            self._check_once(index, "argument", action, parameter)

    def _check_given(self, index: int, constraint: Given) -> None:
        action = constraint.action
        own = next(each for each in self._case.actions if each.id == action)
        if own.parameters is None:
            _refuse(index, f"gives arguments to {action!r}", "its tool has no parameters of its own")
        self._check_once(index, "given", action)
        for parameter in constraint.arguments:
            self._check_once(index, "argument", action, parameter)

    def _check_condition(self, index: int, constraint: Condition) -> None:
        if not constraint.finding.strip():
            _refuse(index, "has no finding", 'expected words such as "a problem"')
        if constraint.asks not in self._case.world.findings:
            _refuse(index, f"asks {constraint.asks!r}", "world.findings does not say what it reports")
        self._check_due(index, constraint.asks)
        self._check_in_service(index, *actions_of(constraint))
        self._check_once(index, "condition", constraint.asks)

    def _check_repeat(self, index: int, action: str, times: int) -> None:
        if not 2 <= times <= MOST_TIMES:
            _refuse(index, f"asks for {action!r} {times} times", f"expected 2 to {MOST_TIMES}")
        source = self._optional.get(action)
        if source is not None and not isinstance(self._case.constraints[source], Condition):
            _refuse(index, f"repeats {action!r}", f"constraint {source} makes it optional")
        self._check_once(index, "repeat", action)

    def _check_due(self, index: int, action: str) -> None:
        source = self._optional.get(action)
        if source is not None:
            _refuse(index, f"relies on {action!r}", f"constraint {source} makes it optional")

    def _check_in_service(self, index: int, *actions: str) -> None:
        for action in actions:
            if action in self._out_of_service:
                _refuse(index, f"relies on {action!r}", "it is out of service, and nothing stands in for it")

    def _check_once(self, index: int, *said: str) -> None:
        """Refuse a second constraint of the same kind about the same actions."""
        if said in self._seen:
            subject = ", ".join(repr(name) for name in said[1:])
            _refuse(index, f"repeats constraint {self._seen[said]} for {subject}", "omit one")
        self._seen[said] = index


def optional_in(constraint: Constraint) -> Sequence[str]:
    """Actions that become optional because of a constraint."""
    match constraint:
        case Choice(options):
            return options
        case Condition(_, _, then, otherwise):
            return (then, otherwise) if otherwise else (then,)
        case StandIn(_, by):
            return (by,)
        case _:
            return ()


def _check_sentence(case: Case, index: int, number: int | None) -> None:
    if number is not None and not 0 <= number < (len(case.sentences) or number + 1):
        last = len(case.sentences) - 1
        expected = f"the case has sentences 0 to {last}" if case.sentences else "expected 0 or more"
        _refuse(index, f"comes from sentence {number}", expected)


def _check_own_tool(case: Case, action: Action, parameters: dict[str, Any]) -> None:
    """Check that all arguments of the user's own tool are known and fit its schema."""
    arguments: dict[str, Any] = {START_TIME: "00:00"} if case.world.day else {}
    for constraint in case.constraints:
        if isinstance(constraint, Given) and constraint.action == action.id:
            arguments |= constraint.arguments
    replaced = [c.action for c in case.constraints if isinstance(c, StandIn) and c.by == action.id]
    for constraint in case.constraints:
        if isinstance(constraint, Handover) and constraint.taker in (action.id, *replaced):
            arguments[constraint.parameter] = case.world.values[constraint.giver][constraint.parameter][0]
    misfit = fits(parameters, arguments)
    if misfit is not None:
        raise UsageError(
            f"the tool {action.tool!r} can't be called with its arguments", f"as far as known: {misfit}"
        )


def _refuse(index: int, says: str, expected: str) -> NoReturn:
    raise UsageError(f"constraint {index} {says}", expected)
