"""The fast checker: which constraints a history breaks, and with which call.

Cases with ordering constraints only, which are judged by the thousand, have an even faster path.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple, assert_never

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
from misstep.core.outcome import Call, Transcript, Verdict
from misstep.planning.world.simulator import Deed, History, ParameterSlip

_COUNTING = frozenset([Repeat, Choice, Condition, StandIn])
_WRONG_VALUES = frozenset(["value", "stale", "swapped"])


class View:
    """A history indexed for checking against its case.

    `places` are the positions of an action's deeds among all deeds, `due` is how often an action has to be
    carried out, `replaces` names the action that another may stand in for.
    """

    __slots__ = ("case", "deeds", "due", "history", "places", "replaces")

    def __init__(self, case: Case, history: History) -> None:
        self.case, self.history = case, history
        self.deeds = history.deeds
        self.places: dict[str, list[int]] = {}
        for place, deed in enumerate(self.deeds):
            self.places.setdefault(deed.action, []).append(place)
        self.replaces: dict[str, str] = {}
        self.due = dict.fromkeys([action.id for action in case.actions], 1)
        counting = [constraint for constraint in case.constraints if type(constraint) in _COUNTING]
        if counting or case.world.broken:
            self._count_due(counting)

    def _count_due(self, counting: Iterable[Constraint]) -> None:
        optional = list[str]()
        for constraint in counting:
            match constraint:
                case Repeat():
                    self.due[constraint.action] = constraint.times
                case Choice():
                    optional += constraint.options
                case Condition():
                    told = constraint.asks in self.places
                    branches = (constraint.then, constraint.otherwise)
                    optional += [self.untaken(constraint)] if told else branches
                case StandIn():
                    self.replaces[constraint.by] = constraint.action
                    optional.append(constraint.by)
        replaced = self.replaces.values()
        optional += [action for action in self.case.world.broken if action not in replaced]
        self.due |= dict.fromkeys([action for action in optional if action], 0)

    def untaken(self, condition: Condition) -> str:
        """The branch that the finding rules out; empty if there is none."""
        return condition.otherwise if self.case.world.findings.get(condition.asks) else condition.then

    def missing(self) -> tuple[str, ...]:
        """Lost actions: not executed as often as due, and not called with a wrong parameter value either.

        An agent that called the stand-in of an action has not forgotten it, but has broken another rule.
        """
        done = {action: len(places) for action, places in self.places.items()}  # by any tool, at any time
        called = {slip.action for slip in self.history.parameters}  # and refused for a value
        for by, action in self.replaces.items():
            if by in done:
                done[action] = done.get(action, 0) + done[by]
        called |= {self.replaces[action] for action in called if action in self.replaces}
        lost = [
            action
            for action, times in self.due.items()
            if times and action not in called and done.get(action, 0) < times
        ]
        for choice in self.case.constraints:
            if type(choice) is Choice and not any(o in done or o in called for o in choice.options):
                lost += choice.options
        return tuple([action.id for action in self.case.actions if action.id in lost]) if lost else ()

    def breaches(self) -> dict[int, int]:
        """The broken constraints, by index, each with the number of the call that broke it."""
        steps = [self.breach(constraint) for constraint in self.case.constraints]
        return {index: step for index, step in enumerate(steps) if step}

    def breach(self, constraint: Constraint) -> int:
        """The number of the call that broke a constraint; 0 if it holds."""
        match constraint:
            case Before():
                return self._too_early(constraint)
            case Window():
                return self._at_a_wrong_time(constraint)
            case Adjacent():
                return self._apart(constraint)
            case Place():
                return self._out_of_place(constraint)
            case Choice():
                return self._step(self._firsts(constraint.options)[1:])
            case Condition():
                return self._uncalled_for(constraint)
            case Limit():
                return self._step([p for p in self._firsts((constraint.action,)) if p > constraint.most])
            case Spend():
                return self._too_expensive(constraint)
            case StandIn():
                return self._step(self._firsts((constraint.by,)))
            case Repeat():
                return self._too_often(constraint)
            case Handover() | Given():
                slips = [slip.step for slip in self.history.parameters if self._is_failed(constraint, slip)]
                return slips[0] if slips else 0
        assert_never(constraint)

    def broken_by(self, slip: ParameterSlip) -> tuple[int, ...]:
        """The constraint, by index, that requires another value; empty if the value was a time."""
        failed = [
            index
            for index, constraint in enumerate(self.case.constraints)
            if isinstance(constraint, Handover | Given) and self._is_failed(constraint, slip)
        ]
        return tuple(failed[:1])

    def _step(self, places: Sequence[int]) -> int:
        return self.deeds[places[0]].step if places else 0

    def _firsts(self, actions: Iterable[str]) -> list[int]:
        """The first position of each of these actions that was executed, in ascending order."""
        return sorted([self.places[action][0] for action in actions if action in self.places])

    def _too_early(self, constraint: Before) -> int:
        thens: Sequence[int] = self.places.get(constraint.then, ())
        if constraint.announced:
            announced = self._firsts((constraint.announced,))
            thens = [place for place in thens if announced and place > announced[0]]
        if not thens:
            return 0
        firsts: Sequence[int] = self.places.get(constraint.first, ())
        needed = self.due.get(constraint.first, 0)
        for place in thens:
            ahead = bisect_left(firsts, place)
            if ahead < needed or ahead < len(firsts):
                return self.deeds[place].step
        return 0

    def _at_a_wrong_time(self, constraint: Window) -> int:
        for place in self.places.get(constraint.action, ()):
            deed = self.deeds[place]
            moment = deed.start if constraint.edge == "start" else deed.end
            if moment < constraint.time if constraint.bound == "after" else moment > constraint.time:
                return deed.step
        return 0

    def _apart(self, constraint: Adjacent) -> int:
        previous = ""
        for deed in self.deeds:
            if (previous == constraint.first) != (deed.action == constraint.then):
                return deed.step
            previous = deed.action
        return 0

    def _out_of_place(self, constraint: Place) -> int:
        if constraint.place == "first":
            return self.deeds[0].step if self.deeds and self.deeds[0].action != constraint.action else 0
        mine = self.places.get(constraint.action, ())
        later = range(mine[0] + 1, len(self.deeds)) if mine else ()
        return self._step([place for place in later if place not in mine])

    def _uncalled_for(self, constraint: Condition) -> int:
        """The call of a branch that came before the decision, or was ruled out."""
        asked = self.places.get(constraint.asks, [len(self.deeds)])[0]
        untaken = self.untaken(constraint)
        places = [
            place
            for branch in (constraint.then, constraint.otherwise)
            for place in self.places.get(branch, ())
            if place < asked or branch == untaken
        ]
        return self._step(sorted(places))

    def _too_expensive(self, constraint: Spend) -> int:
        costs, spent = self.case.world.costs, 0
        for deed in self.deeds:
            spent += costs.get(deed.by or deed.action, 0)
            if spent > constraint.most:
                return deed.step
        return 0

    def _too_often(self, constraint: Repeat) -> int:
        if self.history.calls_of.get(constraint.action, 0) <= constraint.times:
            return 0
        acts = self.history.acts
        return next(s.step for s in acts if s.fault == "repeated" and s.action == constraint.action)

    def _is_failed(self, constraint: Handover | Given, slip: ParameterSlip) -> bool:
        if slip.fault not in _WRONG_VALUES:
            return False
        if isinstance(constraint, Given):
            return slip.action == constraint.action and slip.parameter in constraint.arguments
        takers = (slip.action, self.replaces.get(slip.action))
        return slip.parameter == constraint.parameter and constraint.taker in takers


class Trace(NamedTuple):
    """Numbers of the calls that executed actions, and of the first call that is wrong in itself, or 0."""

    places: dict[str, int]
    unfit: int

    @property
    def history(self) -> History:
        """The executed actions; calls that should not have been made are left out."""
        return History(tuple([Deed(action, step) for action, step in self.places.items()]))


def judge_plain(case: Case, order: Sequence[Before], transcript: Transcript, trace: Trace) -> Verdict:
    """The same as `check.judge_history`, for a case with ordering constraints only (see `plain_order`)."""
    if transcript.ended == "error":
        return Verdict(case.id, "errored")
    places, unfit = trace
    broken = [
        index
        for index, constraint in enumerate(order)
        if constraint.then in places
        and not (constraint.first in places and places[constraint.first] < places[constraint.then])
    ]
    violated = tuple(broken)
    missing: tuple[str, ...] = ()
    if len(places) < len(case.actions):
        missing = tuple([action.id for action in case.actions if action.id not in places])
    if transcript.ended != "answered":
        return Verdict(case.id, "failed", "timeout", violated=violated, missing=missing)
    if unfit:
        return Verdict(case.id, "failed", "act", unfit, violated, missing=missing)
    if missing:
        return Verdict(case.id, "failed", "lost", violated=violated, missing=missing)
    if violated:
        core = min(violated, key=lambda index: places[order[index].then])
        return Verdict(case.id, "failed", "order", places[order[core].then], violated, (core,))
    return Verdict(case.id, "passed")


def retrace(case: Case, calls: Sequence[Call], forbids_parallel: bool) -> Trace:
    ids = {action.tool: action.id for action in case.actions}
    places: dict[str, int] = {}
    unfit = 0
    turn: int | None = None
    for step, call in enumerate(calls, 1):
        action = ids.get(call.tool)
        if action is None or call.arguments != {}:
            unfit = unfit or step
        elif call.ran < 0:
            continue  # requested, but the agent ended before it was executed
        elif action in places:
            unfit = unfit or step
        else:
            places[action] = step
            if forbids_parallel and turn is not None and call.turn == turn:
                unfit = unfit or step
        turn = call.turn
    return Trace(places, unfit)
