"""A strategy that uses only what it has been told so far, and still gets everything right.

It proves for every problem that an agent can succeed, and the faultless simulated agent uses it.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Literal

import msgspec

from misstep.core.case import World
from misstep.core.constraint import Before, Condition, Constraint, Handover, Spend, StandIn
from misstep.planning.plans.demands import Constraints, Demands, selections
from misstep.planning.plans.search import find_plan, may_follow


class Brief(msgspec.Struct, frozen=True):
    """What is known at the beginning: from the request, not from the world."""

    actions: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    day: tuple[int, int] | None = None
    attempts: int = 1


class StrategyMove(msgspec.Struct, frozen=True):
    """What to do next; an action is executed with the values passed to it."""

    kind: Literal["carry out", "ask price", "start over"]
    action: str = ""
    start: int = 0
    values: dict[str, str | int] = {}


class News(msgspec.Struct, frozen=True):
    """The world's response to a move; `announced` are constraints that it added."""

    outcome: Literal["done", "unavailable", "broken", "over", "price", "refused"]
    minutes: int = 0
    values: dict[str, str | int] = {}
    finding: bool | None = None
    cost: int = 0
    announced: tuple[Constraint, ...] = ()


class Strategist:
    """Plans as if unknown actions took no time and never failed, and replans whenever it learns more."""

    def __init__(self, brief: Brief) -> None:
        self._brief = brief
        self._constraints = list(brief.constraints)
        self._attempt = 1
        self._durations: dict[str, int] = {}
        self._least: dict[str, int] = {}  # minimum durations, of actions that were refused
        self._findings: dict[str, bool] = {}
        self._costs: dict[str, int] = {}
        self._broken: list[str] = []
        self._course: tuple[Demands, list[int]] | None = None  # the rest of the current plan
        self._begin()

    def next(self) -> StrategyMove | None:
        """The next move; None when everything is done, or nothing more can be."""
        for action in self._unpriced():
            return StrategyMove("ask price", action)
        found = self._course or (None if self._spoilt else self._plan())
        self._course = found
        if found is None and self._attempt < self._brief.attempts:
            self._begin()
            self._attempt += 1
            return StrategyMove("start over")
        return self._move(*(found or self._search(late=True) or self._rest()))

    def outlook(self) -> list[str]:
        """The remaining actions, in the order in which they would be executed now."""
        demands, units = self._plan() or self._rest()
        return [demands.roles[unit] for unit in units] if demands else []

    def hear(self, move: StrategyMove, news: News) -> None:
        action = move.action
        match news.outcome:
            case "done":
                role = self._role(action)
                self._done.append((role, move.start))
                self._clock = move.start + news.minutes
                self._go_on(move, news)
                self._durations[action] = news.minutes
                self._values |= {(role, name): value for name, value in news.values.items()}
                if news.finding is not None:
                    self._findings[role] = news.finding
                self._constraints += [new for new in news.announced if new not in self._constraints]
            case "broken":
                self._course = None
                self._broken.append(action)
            case "price":
                self._costs[action] = news.cost
            case "refused":
                self._course = None
                self._spoilt = True
                if self._brief.day:  # it would have ended after the day, which gives a minimum duration
                    self._least.setdefault(action, self._brief.day[1] - move.start + 1)
                self._done.append((self._role(action), move.start))  # or it would be tried again and again

    def _begin(self) -> None:
        """Reset progress, but keep what was learnt."""
        self._course = None
        self._spoilt = False  # by a refused call, which can't be undone
        self._done: list[tuple[str, int]] = []
        self._values: dict[tuple[str, str], str | int] = {}
        self._clock = self._brief.day[0] if self._brief.day else 0

    def _go_on(self, move: StrategyMove, news: News) -> None:
        """Continue with the current plan, unless something new requires replanning."""
        if self._course is None or news.finding is not None or news.announced:
            self._course = None
            return
        demands, units = self._course
        unit, timing = units.pop(0), demands.timing
        if timing:
            # Conservative: a later start may still be in time, but requires replanning.
            latest = timing.latest[unit] - (news.minutes - timing.durations[unit])
            if move.start > latest or not timing.has_room(units, self._clock):
                self._course = None

    def _unpriced(self) -> Iterator[str]:
        if any(isinstance(constraint, Spend) for constraint in self._constraints):
            yield from (action for action in self._brief.actions if action not in self._costs)

    def _world(self) -> World:
        return World(
            day=self._brief.day,
            durations=self._least | self._durations,
            findings=self._findings,
            costs=self._costs,
            broken=tuple(self._broken),
        )

    def _plan(self) -> tuple[Demands, list[int]] | None:
        """Demands consistent with what has been done, and a plan for the rest."""
        return self._search(late=False)

    def _search(self, late: bool, room: int = 0) -> tuple[Demands, list[int]] | None:
        for constraints, world in self._assumptions():
            for demands in self._selections(constraints, world, room):
                begun = self._begun(demands)
                if begun is not None:
                    wanted = demands.untimed() if late else demands
                    rest = find_plan(wanted, *begun, self._clock, demands.by_urgency(self._clock))
                    if rest is not None:
                        return demands, rest
        return None

    def _assumptions(self) -> Iterator[tuple[Constraints, World]]:
        """Possible outcomes of what is unknown: first a plan that fits both outcomes, then either one."""
        unknown = [c for c in self._constraints if isinstance(c, Condition) and c.asks not in self._findings]
        world = self._world()
        for assumed in product((None, True, False), repeat=len(unknown)):
            findings = {
                c.asks: finding for c, finding in zip(unknown, assumed, strict=True) if finding is not None
            }
            findings |= world.findings
            prepared = [new for said in self._constraints for new in _prepared(said, findings)]
            yield prepared, msgspec.structs.replace(world, findings=findings)

    def _selections(self, constraints: Constraints, world: World, room: int) -> Iterator[Demands]:
        """The demands of every combination of choices, with `room` minutes for each unknown duration.

        The room makes nothing start earlier: the action may turn out to be short.
        """
        demands = selections(self._brief.actions, constraints, world)
        if not room:
            return demands
        unknown = {action: max(room, self._least.get(action, 0)) for action in self._brief.actions}
        slower = msgspec.structs.replace(world, durations=unknown | self._durations)
        return map(_with_room, demands, selections(self._brief.actions, constraints, slower))

    def _begun(self, demands: Demands) -> tuple[int, int] | None:
        """The finished units and the last of them; None if what has been done does not fit."""
        mask, last = 0, -1
        for role, start in self._done:
            unit = next((unit for unit in demands.units(role) if not mask >> unit & 1), None)
            if unit is None or not may_follow(demands, mask, demands.next.get(last, -1), unit):
                return None
            timing = demands.timing
            if timing and not timing.earliest[unit] <= start <= timing.latest[unit]:
                return None
            mask, last = mask | 1 << unit, unit
        return mask, last

    def _rest(self) -> tuple[Demands, list[int]] | tuple[None, list[int]]:
        """The remaining units, in any order, when no correct plan is left."""
        for demands in selections(self._brief.actions, self._constraints, self._world()):
            done = demands.assign([role for role, _ in self._done])
            return demands, [unit for unit in range(demands.size) if unit not in done]
        return None, []

    def _move(self, demands: Demands | None, units: list[int]) -> StrategyMove | None:
        if demands is None or not units:
            return None
        role, tool = demands.roles[units[0]], demands.tools[units[0]]
        start = max(self._clock, demands.timing.earliest[units[0]]) if demands.timing else 0
        return StrategyMove("carry out", tool, start, self._handed(role))

    def _handed(self, taker: str) -> dict[str, str | int]:
        """The latest values that have to be passed to the action."""
        return {
            said.parameter: self._values[said.giver, said.parameter]
            for said in self._constraints
            if isinstance(said, Handover)
            and said.taker == taker
            and (said.giver, said.parameter) in self._values
        }

    def _role(self, action: str) -> str:
        for said in self._constraints:
            if isinstance(said, StandIn) and said.by == action and said.action in self._broken:
                return said.action
        return action


def _with_room(demands: Demands, slower: Demands) -> Demands:
    if demands.timing and slower.timing:
        demands.timing = msgspec.structs.replace(slower.timing, earliest=demands.timing.earliest)
    return demands


def _prepared(constraint: Constraint, findings: Mapping[str, bool]) -> Constraints:
    """A condition without an assumed outcome, as if both branches were due."""
    if not isinstance(constraint, Condition) or constraint.asks in findings:
        return (constraint,)
    return [Before(constraint.asks, branch) for branch in (constraint.then, constraint.otherwise) if branch]
