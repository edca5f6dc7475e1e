"""Encodes a case for a solver: properties of every plan, and the formula of each constraint, as SMT-LIB text.

A solver parses text several times faster than it builds formulas through its API.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import combinations, pairwise
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
from misstep.planning.world.simulator import Deed, History


def _operator(symbol: str) -> "Callable[[Term, Number], Term]":
    return lambda self, other: _applied(symbol, self, other)


class Term:
    """An SMT-LIB term, a number or a truth value; operators create new terms."""

    __slots__ = ("text",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str) -> None:
        self.text = text

    __lt__ = _operator("<")
    __le__ = _operator("<=")
    __gt__ = _operator(">")
    __ge__ = _operator(">=")
    __eq__ = _operator("=")  # type: ignore[assignment]
    __ne__ = _operator("distinct")  # type: ignore[assignment]
    __add__ = _operator("+")
    __sub__ = _operator("-")

    def __bool__(self) -> bool:
        raise TypeError("a formula is neither true nor false before a solver has read it")


Number = Term | int

NEVER = Term("false")
ALWAYS = Term("true")


def every(*terms: Term) -> Term:
    return _joined("and", terms, ALWAYS)


def some(*terms: Term) -> Term:
    return _joined("or", terms, NEVER)


def negation(term: Term) -> Term:
    return _applied("not", term)


def implied(by: Term, term: Term) -> Term:
    return _applied("=>", by, term)


def either(condition: Term, one: Number, other: Number) -> Term:
    """`one` if the condition holds, else `other`; both are numbers, or both are truth values."""
    return _applied("ite", condition, one, other)


def total(terms: Sequence[Number]) -> Term:
    return _joined("+", terms, Term("0"))


def count(formulas: Iterable[Term]) -> Term:
    return total([either(formula, 1, 0) for formula in formulas])


def different(*terms: Number) -> Term:
    return _applied("distinct", *terms) if len(terms) > 1 else ALWAYS


def _applied(function: str, *terms: Number) -> Term:
    return Term(f"({function} {' '.join(map(_written, terms))})")


def _joined(function: str, terms: Sequence[Number], none: Term) -> Term:
    """A function of any number of terms; a single term is returned as it is."""
    if not terms:
        return none
    return _applied(function, *terms) if len(terms) > 1 else Term(_written(terms[0]))


def _written(term: Number) -> str:
    if isinstance(term, Term):
        return term.text
    return str(term) if term >= 0 else f"(- {-term})"


class Script:
    """A solver script: declarations, each name once, and assertions."""

    def __init__(self) -> None:
        self._lines = list[str]()

    def number(self, name: str) -> Term:
        return self._declare(name, "Int")

    def truth(self, name: str) -> Term:
        return self._declare(name, "Bool")

    def define(self, name: str, number: Term) -> Term:
        """A short name for a number that is used often."""
        self._lines.append(f"(define-fun {name} () Int {number.text})")
        return Term(name)

    def require(self, *terms: Term) -> None:
        self._lines += [f"(assert {term.text})" for term in terms]

    def text(self) -> str:
        return "\n".join(self._lines)

    def _declare(self, name: str, sort: str) -> Term:
        self._lines.append(f"(declare-const {name} {sort})")
        return Term(name)


class Unit(msgspec.Struct, frozen=True):
    """One possible execution of an action, by the tool of `tool`: whether it happens, where and when."""

    action: str
    tool: str
    present: Term
    place: Term
    start: Term
    end: Term


class RefusedCall(msgspec.Struct, frozen=True):
    """A call that was refused: the numbers of the value that it passed and of the right one."""

    tool: str
    parameter: str
    passed: Term
    right: Term


class Encoding:
    """Variables for a plan, with units for as often as an action may be due or occurs in `deeds`."""

    def __init__(self, script: Script, case: Case, deeds: Sequence[Deed] = ()) -> None:
        self._script, self._case = script, case
        self._times = {c.action: c.times for c in case.constraints if isinstance(c, Repeat)}
        self._stand_ins = {c.action: c.by for c in case.constraints if isinstance(c, StandIn)}
        self._units: dict[str, list[Unit]] = {}
        self._calls: dict[str, Term] = {}
        self._refused = list[RefusedCall]()
        self._handed = 0
        for number, action in enumerate(case.actions):
            done = [deed for deed in deeds if deed.action == action.id]
            self._units[action.id] = list(self._make_units(number, action.id, done))
            self._calls[action.id] = script.number(f"calls{number}")
        self._all = [unit for units in self._units.values() for unit in units]
        self._total = script.define("total", count(unit.present for unit in self._all))

    def _make_units(self, number: int, action: str, deeds: Sequence[Deed]) -> Iterator[Unit]:
        usual = self._stand_ins.get(action, action) if action in self._case.world.broken else action
        for time in range(max(self._times.get(action, 1), len(deeds))):
            tool = (deeds[time].by or action) if time < len(deeds) else usual
            present = self._script.truth(f"present{number}_{time}")
            place, start, end = [
                self._script.number(f"{name}{number}_{time}") for name in ("place", "start", "end")
            ]
            yield Unit(action, tool, present, place, start, end)

    def basics(self) -> Iterator[Term]:
        """Properties of every plan: one action at a time, positions without gaps, all within the day."""
        for number, unit in enumerate(self._all):
            placed = every(unit.place >= 0, unit.place < self._total)
            yield either(unit.present, placed, unit.place == -1 - number)  # negative for absent units
            if unit.tool in self._case.world.broken:
                yield negation(unit.present)
        yield different(*[unit.place for unit in self._all])
        for units in self._units.values():
            for one, next_ in pairwise(units):
                yield implied(next_.present, every(one.present, one.place < next_.place))
        for action, calls in self._calls.items():
            yield calls >= count(unit.present for unit in self._all if unit.tool == action)
        if self._case.world.day:
            yield from self._timed(*self._case.world.day)

    def _timed(self, begin: int, end: int) -> Iterator[Term]:
        durations = self._case.world.durations
        for unit in self._all:
            lasts = unit.end == unit.start + durations.get(unit.tool, 0)
            yield implied(unit.present, every(unit.start >= begin, lasts, unit.end <= end))
        for one, other in combinations(self._all, 2):
            apart = either(one.place < other.place, one.end <= other.start, other.end <= one.start)
            yield implied(every(one.present, other.present), apart)

    def complete(self) -> Iterator[Term]:
        """Everything due is executed, with one option of every choice."""
        for action, units in self._units.items():
            yield count(unit.present for unit in units) >= self._due(action)
        for constraint in self._case.constraints:
            if isinstance(constraint, Choice):
                yield some(*[self._is_done(option) for option in constraint.options])

    def follow_order(self, plan: Sequence[str]) -> Iterator[Term]:
        """The plan executes these actions in this order, at any times and with any values."""
        waiting = {action: iter(units) for action, units in self._units.items()}
        for place, action in enumerate(plan):
            yield next(waiting[action]).place == place
        yield self._total == len(plan)

    def follow(self, history: History) -> Iterator[Term]:
        """Exactly this happened; calls refused for a value had not passed the right one."""
        yield from self.follow_order([deed.action for deed in history.deeds])
        waiting = {action: iter(units) for action, units in self._units.items()}
        for deed in history.deeds if self._case.world.day else ():
            unit = next(waiting[deed.action])
            yield every(unit.start == deed.start, unit.end == deed.end)
        for action, calls in self._calls.items():
            yield calls == history.calls_of.get(action, 0)
        for number, slip in enumerate(history.parameters):
            if slip.fault in ("value", "stale", "swapped"):
                passed, right = [self._script.number(f"{name}{number}") for name in ("passed", "right")]
                self._refused.append(RefusedCall(slip.action, slip.parameter, passed, right))
                yield passed != right

    def demand(self, constraint: Constraint) -> Term:
        """The formula of a constraint; refused calls count only if they were passed to `follow`."""
        match constraint:
            case Before(first, then, _, announced):
                return every(*[self._waits(unit, first, announced) for unit in self._units[then]])
            case Window(action):
                return every(*[self._is_timely(unit, constraint) for unit in self._units[action]])
            case Handover(giver, taker, parameter):
                handed = [self._is_handed(unit, giver) for unit in self._units[taker]]
                tools = (taker, self._stand_ins.get(taker))
                return every(*handed, self._is_right(tools, (parameter,)))
            case Given(action, arguments):
                return self._is_right((action,), arguments)
            case Adjacent(first, then):
                return every(*self._side_by_side(first, then))
            case Place(action, place):
                starts = [unit.place == 0 for unit in self._units[action]]
                return some(self._total == 0, *starts) if place == "first" else self._is_last(action)
            case Choice(options):
                return count([self._is_done(option) for option in options]) <= 1
            case Condition():
                return every(*self._is_decided(constraint))
            case Repeat(action, times):
                return self._calls[action] <= times
            case Limit(action, most):
                return self._units[action][0].place <= most  # absent units have none
            case Spend(most):
                costs = self._case.world.costs
                return total([either(u.present, costs.get(u.tool, 0), 0) for u in self._all]) <= most
            case StandIn(_, by):
                return negation(self._is_done(by))
        assert_never(constraint)

    def _is_done(self, action: str) -> Term:
        return self._units[action][0].present

    def _earlier(self, action: str, unit: Unit) -> list[Term]:
        """For each unit of the action, whether it is executed before the given one."""
        return [every(each.present, each.place < unit.place) for each in self._units[action]]

    def _due(self, action: str) -> Number:
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
                    return either(self._is_done(asks), times, 0) if taken else 0
        return times

    def _waits(self, unit: Unit, first: str, announced: str) -> Term:
        """Everything due of `first` comes before the unit, if it is executed after the announcement."""
        bound = every(unit.present, some(*self._earlier(announced, unit))) if announced else unit.present
        enough = count(self._earlier(first, unit)) >= self._due(first)
        none_later = [implied(each.present, each.place < unit.place) for each in self._units[first]]
        return implied(bound, every(enough, *none_later))

    def _is_timely(self, unit: Unit, window: Window) -> Term:
        moment = unit.start if window.edge == "start" else unit.end
        kept = moment >= window.time if window.bound == "after" else moment <= window.time
        return implied(unit.present, kept)

    def _is_handed(self, unit: Unit, giver: str) -> Term:
        """The unit gets the newest value, numbered by how often the giver has returned one."""
        self._handed += 1
        passed = self._script.number(f"handed{self._handed}")
        newest = count(self._earlier(giver, unit))
        return implied(unit.present, every(passed >= 1, passed == newest))

    def _is_right(self, tools: Container[str | None], parameters: Container[str]) -> Term:
        """Calls of these tools passed the right values for these parameters; refused ones did not."""
        about = [each for each in self._refused if each.tool in tools and each.parameter in parameters]
        return every(*[each.passed == each.right for each in about])

    def _side_by_side(self, first: str, then: str) -> Iterator[Term]:
        for one in self._units[first]:
            follows = [every(unit.present, unit.place == one.place + 1) for unit in self._units[then]]
            yield implied(one.present, some(one.place == self._total - 1, *follows))
        for one in self._units[then]:
            leads = [every(unit.present, unit.place == one.place - 1) for unit in self._units[first]]
            yield implied(one.present, some(*leads))

    def _is_last(self, action: str) -> Term:
        others = [unit for unit in self._all if unit.action != action]
        pairs = [(mine, other) for mine in self._units[action] for other in others]
        return every(*[implied(every(a.present, b.present), b.place < a.place) for a, b in pairs])

    def _is_decided(self, condition: Condition) -> Iterator[Term]:
        """The branch that was ruled out is not executed; the other comes after the decision."""
        asks = self._units[condition.asks][0]
        found = self._case.world.findings.get(condition.asks, False)
        for branch, wanted in ((condition.then, True), (condition.otherwise, False)):
            for unit in self._units.get(branch, ()):
                told = every(asks.present, asks.place < unit.place)
                yield implied(unit.present, told if found == wanted else NEVER)
