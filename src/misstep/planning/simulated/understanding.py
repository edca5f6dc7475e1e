"""What a simulated agent makes of a request: it gets what any agent gets, and reads it with the reader."""

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from misstep.core.agent import Tool
from misstep.core.constraint import Before, Constraint, Given
from misstep.planning.language.hearing import read_rules
from misstep.planning.language.reader import Reading, Relation, read
from misstep.planning.plans.order import Order, order_of
from misstep.planning.plans.strategy import Brief

_BETWEEN = re.compile(r"(?<=\.) (?=[A-Z])")
_QUOTED = re.compile(r"`[^`]*`")


class Understanding:
    """A request, read only if it has to be, and never guessed at.

    `activities` are what the tools are for, as the request names them. Tools that it doesn't name are
    nobody's, unless it names none.
    """

    def __init__(self, request: str, tools: Sequence[Tool]) -> None:
        self._request = request
        named = {name: tool for tool in tools if (name := _name(tool, request))}
        self.tools = named or {tool.name: tool for tool in tools}
        self.activities = tuple(self.tools)

    @property
    def length(self) -> int:
        """The characters of the request."""
        return len(self._request)

    @property
    def sentences(self) -> list[Reading]:
        if not self.readable:
            raise ValueError("a simulated planner reads only what misstep has written")
        return self.readable

    @cached_property
    def readable(self) -> list[Reading]:
        """The line of the request that speaks of the tasks, if there is one; others are not about them."""
        for line in self._request.splitlines():
            readings = [read(sentence, self.activities) for sentence in _sentences(line)]
            if readings and all(readings):
                return [reading[0] for reading in readings]
        return []

    @property
    def relations(self) -> list[Relation]:
        return [relation for sentence in self.sentences for relation in sentence.relations]

    @property
    def demands(self) -> list[Constraint]:
        """Everything said but plain order, as far as it can be read."""
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
        """What is to be done, with these relations and demands in the place of those that were read."""
        rules = read_rules(self._request)
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
    """What the request calls the task of a tool; empty if it doesn't speak of it."""
    text = request.lower()
    for name in (f"{tool.name} call", tool.name.replace("_", " ")):
        if f"the {name.lower()}" in text:
            return name
    return ""


def _sentences(line: str) -> list[str]:
    """The sentences of a line; full stops inside backticks end none."""
    hidden = _QUOTED.sub(lambda match: "`" + "x" * (len(match[0]) - 2) + "`", line)
    cuts = [0, *(match.end() for match in _BETWEEN.finditer(hidden)), len(line) + 1]
    return [line[start : end - 1] for start, end in pairwise(cuts)]
