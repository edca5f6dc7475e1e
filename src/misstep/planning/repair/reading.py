"""What a model has read out of a request, each part with the words that say so."""

from collections.abc import Sequence

import msgspec

from misstep.core.case import CASE_VERSION, Action, Case
from misstep.core.constraint import Constraint


class Need(msgspec.Struct, frozen=True):
    """A tool that the request asks for. It is an action of its own, named like the tool."""

    tool: str
    quote: str


class Rule(msgspec.Struct, frozen=True):
    """A constraint between tools."""

    constraint: Constraint
    quote: str


class Reading(msgspec.Struct, frozen=True):
    """One understanding of a request. `beyond` are words that demand something no constraint can say."""

    needs: tuple[Need, ...]
    rules: tuple[Rule, ...] = ()
    beyond: tuple[str, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple([need.tool for need in self.needs])

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        return tuple([rule.constraint for rule in self.rules])


def problem(tools: Sequence[str], constraints: Sequence[Constraint]) -> Case:
    """The planning problem in what was read: which calls, in which order. Arguments are no part of it."""
    actions = tuple([Action(tool, tool, tool) for tool in tools])
    return Case(CASE_VERSION, "request", 0, "", "", actions, tuple(constraints))
