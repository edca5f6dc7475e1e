"""A case in the language of a solver: what any plan is like, and what each constraint demands of it.

Z3 itself is brought along by whoever asks.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from types import ModuleType
from typing import Any, assert_never

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
from misstep.planning.world.history import Deed, History

Formula = Any


class Unit(msgspec.Struct, frozen=True):
    """One time that an action may be carried out: whether it is, at which place, from when to when.

    `tool` names the action by whose tool it is.
    """

    action: str
    tool: str
    present: Formula
    place: Formula
    start: Formula
    end: Formula


class Refused(msgspec.Struct, frozen=True):
    """A call that was not carried out: the numbers of the value that it passed and of the right one."""

    tool: str
    parameter: str
    passed: Formula
    right: Formula


class Encoding:
    """Variables for a plan of a case, with units for as often as an action may be due or `deeds` has it."""

    def __init__(self, z3: ModuleType, case: Case, deeds: Sequence[Deed] = ()) -> None:
        self._z3, self._case = z3, case
        self._times = {c.action: c.times for c in case.constraints if isinstance(c, Repeat)}
        self._stand_ins = {c.action: c.by for c in case.constraints if isinstance(c, StandIn)}
        self._units: dict[str, list[Unit]] = {}
        self._calls: dict[str, Formula] = {}
        self._refused = list[Refused]()
        for number, action in enumerate(case.actions):
            done = [deed for deed in deeds if deed.action == action.id]
            self._units[action.id] = list(self._make_units(number, action.id, done))
            self._calls[action.id] = z3.Int(f"calls{number}")
        self._all = [unit for units in self._units.values() for unit in units]
        self._total = self._count(self._all)

    def _make_units(self, number: int, action: str, deeds: Sequence[Deed]) -> Iterator[Unit]:
        usual = self._stand_ins.get(action, action) if action in self._case.world.broken else action
        for time in range(max(self._times.get(action, 1), len(deeds))):
            tool = (deeds[time].by or action) if time < len(deeds) else usual
            place, start, end = [self._z3.Int(f"{name}{number}_{time}") for name in ("place", "start", "end")]
            yield Unit(action, tool, self._z3.Bool(f"present{number}_{time}"), place, start, end)

    def basics(self) -> Iterator[Formula]:
        """What is so of any plan: one thing at a time, places without gaps, all within the day."""
        z3 = self._z3
        for number, unit in enumerate(self._all):
            placed = z3.And(unit.place >= 0, unit.place < self._total)
            yield z3.If(unit.present, placed, unit.place == -1 - number)  # below 0 those that are not there
            if unit.tool in self._case.world.broken:
                yield z3.Not(unit.present)
        yield z3.Distinct([unit.place for unit in self._all])
        for units in self._units.values():
            for one, next_ in pairwise(units):
                yield z3.Implies(next_.present, z3.And(one.present, one.place < next_.place))
        for action, calls in self._calls.items():
            yield calls >= self._count(unit for unit in self._all if unit.tool == action)
        if self._case.world.day:
            yield from self._timed(*self._case.world.day)

    def _timed(self, begin: int, end: int) -> Iterator[Formula]:
        z3, durations = self._z3, self._case.world.durations
        for unit in self._all:
            lasts = unit.end == unit.start + durations.get(unit.tool, 0)
            yield z3.Implies(unit.present, z3.And(unit.start >= begin, lasts, unit.end <= end))
        for one, other in combinations(self._all, 2):
            apart = z3.If(one.place < other.place, one.end <= other.start, other.end <= one.start)
            yield z3.Implies(z3.And(one.present, other.present), apart)

    def complete(self) -> Iterator[Formula]:
        """That everything is carried out that is due, with one option of every choice."""
        for action, units in self._units.items():
            yield self._count(units) >= self._due(action)
        for constraint in self._case.constraints:
            if isinstance(constraint, Choice):
                yield self._z3.Or([self._is_done(option) for option in constraint.options])

    def follow_order(self, plan: Sequence[str]) -> Iterator[Formula]:
        """That the plan is to carry out these actions, in this order, at any times and with any values."""
        waiting = {action: iter(units) for action, units in self._units.items()}
        for place, action in enumerate(plan):
            yield next(waiting[action]).place == place
        yield self._total == len(plan)

    def follow(self, history: History) -> Iterator[Formula]:
        """That this happened and nothing else; what was refused for a value had not passed the right one."""
        yield from self.follow_order([deed.action for deed in history.deeds])
        waiting = {action: iter(units) for action, units in self._units.items()}
        for deed in history.deeds:
            unit = next(waiting[deed.action])
            if self._case.world.day:
                yield self._z3.And(unit.start == deed.start, unit.end == deed.end)
        for action, calls in self._calls.items():
            yield calls == history.calls_of.get(action, 0)
        for number, slip in enumerate(history.parameters):
            if slip.fault in ("value", "stale", "swapped"):
                passed, right = self._z3.Ints(f"passed{number} right{number}")
                self._refused.append(Refused(slip.action, slip.parameter, passed, right))
                yield passed != right

    def demand(self, constraint: Constraint) -> Formula:
        """What a constraint demands; of refused calls only those count that `follow` has been told of."""
        z3 = self._z3
        match constraint:
            case Before(first, then, _, announced):
                return z3.And([self._waits(unit, first, announced) for unit in self._units[then]])
            case Window(action):
                return z3.And([self._is_timely(unit, constraint) for unit in self._units[action]])
            case Handover(giver, taker, parameter):
                handed = [self._is_handed(unit, giver) for unit in self._units[taker]]
                tools = (taker, self._stand_ins.get(taker))
                return z3.And(*handed, self._is_right(tools, (parameter,)))
            case Given(action, arguments):
                return self._is_right((action,), arguments)
            case Adjacent(first, then):
                return z3.And(list(self._side_by_side(first, then)))
            case Place(action, place):
                return self._is_first(action) if place == "first" else self._is_last(action)
            case Choice(options):
                return z3.Sum([z3.If(self._is_done(option), 1, 0) for option in options]) <= 1
            case Condition():
                return z3.And(list(self._is_decided(constraint)))
            case Repeat(action, times):
                return self._calls[action] <= times
            case Limit(action, most):
                return self._units[action][0].place <= most  # units that are not there have none
            case Spend(most):
                costs = self._case.world.costs
                return z3.Sum([z3.If(u.present, costs.get(u.tool, 0), 0) for u in self._all]) <= most
            case StandIn(_, by):
                return z3.Not(self._is_done(by))
        assert_never(constraint)

    def _count(self, units: Iterable[Unit]) -> Formula:
        return self._z3.Sum([self._z3.If(unit.present, 1, 0) for unit in units])

    def _is_done(self, action: str) -> Formula:
        return self._units[action][0].present

    def _earlier(self, action: str, unit: Unit) -> list[Formula]:
        """For each unit of the action whether it is carried out before the given one."""
        z3 = self._z3
        return [z3.And(each.present, each.place < unit.place) for each in self._units[action]]

    def _how_many(self, formulas: Sequence[Formula]) -> Formula:
        return self._z3.Sum([self._z3.If(formula, 1, 0) for formula in formulas])

    def _due(self, action: str) -> Formula:
        """How often an action has to be carried out."""
        broken = action in self._case.world.broken and action not in self._stand_ins
        if broken or action in self._stand_ins.values():
            return 0
        times = self._times.get(action, 1)
        for constraint in self._case.constraints:
            match constraint:
                case Choice(options) if action in options:
                    return 0
                case Condition(asks, _, then, otherwise) if action in (then, otherwise):
                    taken = (action == then) == self._case.world.findings.get(asks, False)
                    return self._z3.If(self._is_done(asks), times, 0) if taken else 0
        return times

    def _waits(self, unit: Unit, first: str, announced: str) -> Formula:
        """Everything due of `first` comes before the unit, if it is carried out once that is announced."""
        z3 = self._z3
        bound = z3.And(unit.present, z3.Or(self._earlier(announced, unit))) if announced else unit.present
        enough = self._how_many(self._earlier(first, unit)) >= self._due(first)
        none_later = [z3.Implies(each.present, each.place < unit.place) for each in self._units[first]]
        return z3.Implies(bound, z3.And(enough, *none_later))

    def _is_timely(self, unit: Unit, window: Window) -> Formula:
        moment = unit.start if window.edge == "start" else unit.end
        kept = moment >= window.time if window.bound == "after" else moment <= window.time
        return self._z3.Implies(unit.present, kept)

    def _is_handed(self, unit: Unit, giver: str) -> Formula:
        """The unit is passed the newest value: the number of it is how often the giver has returned one."""
        z3 = self._z3
        passed = z3.FreshInt("passed")
        newest = self._how_many(self._earlier(giver, unit))
        return z3.Implies(unit.present, z3.And(passed >= 1, passed == newest))

    def _is_right(self, tools: Container[str | None], parameters: Container[str]) -> Formula:
        """Calls of these tools passed the right values for these parameters; refused ones did not."""
        return self._z3.And(
            [
                refused.passed == refused.right
                for refused in self._refused
                if refused.tool in tools and refused.parameter in parameters
            ]
        )

    def _side_by_side(self, first: str, then: str) -> Iterator[Formula]:
        z3 = self._z3
        for one in self._units[first]:
            follows = [z3.And(unit.present, unit.place == one.place + 1) for unit in self._units[then]]
            yield z3.Implies(one.present, z3.Or(one.place == self._total - 1, *follows))
        for one in self._units[then]:
            leads = [z3.And(unit.present, unit.place == one.place - 1) for unit in self._units[first]]
            yield z3.Implies(one.present, z3.Or(leads))

    def _is_first(self, action: str) -> Formula:
        starts = [unit.place == 0 for unit in self._units[action]]
        return self._z3.Or(self._total == 0, *starts)

    def _is_last(self, action: str) -> Formula:
        z3 = self._z3
        return z3.And(
            [
                z3.Implies(z3.And(mine.present, other.present), other.place < mine.place)
                for mine in self._units[action]
                for other in self._all
                if other.action != action
            ]
        )

    def _is_decided(self, condition: Condition) -> Iterator[Formula]:
        """The branch that was decided against is left out, the other comes after what decides."""
        z3 = self._z3
        asks = self._units[condition.asks][0]
        found = self._case.world.findings.get(condition.asks, False)
        for branch, wanted in ((condition.then, True), (condition.otherwise, False)):
            for unit in self._units.get(branch, ()):
                told = z3.And(asks.present, asks.place < unit.place)
                yield z3.Implies(unit.present, told if found == wanted else z3.BoolVal(False))
