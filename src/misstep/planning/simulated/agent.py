"""A simulated agent: it parses the request with the reader, and executes what its planner decides.

It gets exactly what any agent gets. Some actors here fail in ways that no misreading explains.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from typing import Any

import msgspec

from misstep.core.agent import Answer, Assignment, Tool, Toolbox
from misstep.core.constraint import Before, Constraint, Given
from misstep.core.rng import Dice
from misstep.planning.language.hearing import read_result, read_rules
from misstep.planning.language.reader import Relation, SentenceReading, read
from misstep.planning.language.requests import clock
from misstep.planning.plans.demands import Demands
from misstep.planning.plans.order import Order, order_of
from misstep.planning.plans.search import TooManyPlans
from misstep.planning.plans.strategy import Brief, News, Strategist, StrategyMove
from misstep.planning.world.tool_table import ASK_PRICE, START_OVER, START_TIME, TASK


class FixedOrder(Strategist):
    """Follows an order of its own and ignores everything else; it never does what the order leaves out."""

    def __init__(self, brief: Brief, plan: Sequence[str]) -> None:
        super().__init__(msgspec.structs.replace(brief, attempts=1))
        self._own = tuple(plan)

    def _plan(self) -> tuple[Demands, list[int]] | None:
        demands, units = self._rest()
        if demands is None:
            return None
        places = demands.assign(self._own)
        return demands, sorted([unit for unit in units if unit in places], key=places.__getitem__)


ROOMS = range(150, 0, -15)  # minutes


class LeavesRoom(Strategist):
    """In the last of several attempts, leaves as much room as possible for actions of unknown duration.

    A `Strategist` counts unknown durations as zero, so it may wait for a window and then have too little
    time for the rest. A case is generated only if its rehearsal succeeds all the same, but that depends on
    the order of the actions, and agents see the tools in another one.
    """

    def _plan(self) -> tuple[Demands, list[int]] | None:
        if self._brief.day and self._attempt == self._brief.attempts > 1:
            for room in ROOMS:
                with suppress(TooManyPlans):
                    found = self._search(late=False, room=room)
                    if found is not None:
                        return found
        return super()._plan()


class IgnoresAnnouncements(Strategist):
    """Treats every failed call as a success and ignores announcements."""

    def hear(self, move: StrategyMove, news: News) -> None:
        failed = news.outcome in ("unavailable", "broken")
        heard = News("done") if failed else msgspec.structs.replace(news, announced=())
        super().hear(move, heard)


_BETWEEN = re.compile(r"(?<=\.) (?=[A-Z])")
_QUOTED = re.compile(r"`[^`]*`")


class Understanding:
    """A request, parsed lazily and never guessed at.

    `activities` are the names that the request has for the tools' tasks. Tools that it doesn't name are
    ignored, unless it names none.
    """

    def __init__(self, request: str, tools: Sequence[Tool]) -> None:
        self.request = request
        named = {name: tool for tool in tools if (name := _name(tool, request))}
        self.tools = named or {tool.name: tool for tool in tools}
        self.activities = tuple(self.tools)

    @property
    def sentences(self) -> list[SentenceReading]:
        if not self.readable:
            raise ValueError("a simulated planner reads only what misstep has written")
        return self.readable

    @cached_property
    def readable(self) -> list[SentenceReading]:
        """The readings of the line of the request about the tasks, if there is one."""
        for line in self.request.splitlines():
            readings = [read(sentence, self.activities) for sentence in _sentences(line)]
            if readings and all(readings):
                return [reading[0] for reading in readings]
        return []

    @property
    def relations(self) -> list[Relation]:
        return [relation for sentence in self.sentences for relation in sentence.relations]

    @property
    def demands(self) -> list[Constraint]:
        """All demands except plain order, as far as they can be read."""
        return [demand for sentence in self.readable for demand in sentence.demands]

    @property
    def arguments(self) -> dict[str, dict[str, object]]:
        """The arguments that the request gives, by activity."""
        return {demand.action: demand.arguments for demand in self.demands if isinstance(demand, Given)}

    @property
    def order(self) -> Order:
        return order_of(self.activities, [(relation.first, relation.then) for relation in self.relations])

    def brief(
        self, relations: Sequence[Relation] | None = None, demands: Sequence[Constraint] | None = None
    ) -> Brief:
        """The brief, optionally with other relations and demands than those that were read."""
        rules = read_rules(self.request)
        order = Order(len(self.activities))
        numbers = {activity: number for number, activity in enumerate(self.activities)}
        kept = [
            Before(relation.first, relation.then)
            for relation in (self.relations if relations is None else relations)
            if order.add(numbers[relation.first], numbers[relation.then])
        ]
        others = self.demands if demands is None else demands
        return Brief(self.activities, (*kept, *others), rules.day, rules.attempts)


def announced_by(activity: str, sentence: str, activities: Sequence[str]) -> tuple[Constraint, ...]:
    """The constraints that the result of an activity adds."""
    readings = read(sentence, activities) if sentence else []
    return tuple(
        Before(relation.first, relation.then, announced=activity)
        for reading in readings[:1]
        for relation in reading.relations
    )


def _name(tool: Tool, request: str) -> str:
    """The request's name for the task of a tool; empty if it doesn't mention it."""
    text = request.lower()
    for name in (f"{tool.name} call", tool.name.replace("_", " ")):
        if f"the {name.lower()}" in text:
            return name
    return ""


def _sentences(line: str) -> list[str]:
    """The sentences of a line; full stops inside backticks don't count."""
    hidden = _QUOTED.sub(lambda match: "`" + "x" * (len(match[0]) - 2) + "`", line)
    cuts = [0, *(match.end() for match in _BETWEEN.finditer(hidden)), len(line) + 1]
    return [line[start : end - 1] for start, end in pairwise(cuts)]


MOST_CALLS = 500  # no case needs as many


class Planner(msgspec.Struct, frozen=True):
    def act(self, understood: Understanding, dice: Dice) -> Strategist:
        """The strategist that executes what has been understood, rightly or wrongly."""
        raise NotImplementedError


class SimulatedAgent:
    def __init__(self, name: str, planner: Planner) -> None:
        self.name = name
        self._planner = planner

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        understood = Understanding(assignment.request, toolbox.tools)
        actor = self._planner.act(understood, Dice(assignment.seed))
        for _ in range(MOST_CALLS):
            move = actor.next()
            if move is None:
                break
            result = toolbox.call(*_call(move, understood))
            actor.hear(move, _news(move, result, understood))
        return Answer("All the tasks have been carried out.")


def _call(move: StrategyMove, understood: Understanding) -> tuple[str, dict[str, Any]]:
    match move.kind:
        case "start over":
            return START_OVER, {}
        case "ask price":
            return ASK_PRICE, {TASK: understood.tools[move.action].name}
        case "carry out":
            tool = understood.tools[move.action]
            return tool.name, {**_arguments(tool, move), **understood.arguments.get(move.action, {})}


def _arguments(tool: Tool, move: StrategyMove) -> dict[str, Any]:
    """The tool's required arguments; made up if unknown."""
    properties, required = tool.parameters.get("properties", {}), tool.parameters.get("required", [])
    known = {START_TIME: clock(move.start), **move.values}
    made_up = {"integer": 0, "number": 0, "boolean": False, "array": [], "object": {}}
    types = {name: str(properties.get(name, {}).get("type")) for name in required}
    return {name: known.get(name, made_up.get(kind, "unknown")) for name, kind in types.items()}


def _news(move: StrategyMove, result: str, understood: Understanding) -> News:
    heard = read_result(result)
    return News(
        outcome="refused" if heard.outcome == "error" else heard.outcome,
        minutes=heard.minutes or 0,
        values=heard.values,
        finding=heard.finding,
        cost=heard.cost or 0,
        announced=announced_by(move.action, heard.announcement, understood.activities),
    )
