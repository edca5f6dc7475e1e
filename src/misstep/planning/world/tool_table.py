"""The tools of a case and their parameters."""

from collections.abc import Sequence

import msgspec

from misstep.core.case import Action, Case
from misstep.core.constraint import Constraint, Given, Handover, Repeat, StandIn
from misstep.schemas.schema import fits

START_OVER, ASK_PRICE = "start_over", "ask_price"
START_TIME, TASK = "start_time", "task"

_KINDS: dict[type, str] = {str: "a string", int: "an integer"}
_NOTHING: dict[str, type] = {}
_TIMED: dict[str, type] = {START_TIME: str}
_TASK: dict[str, type] = {TASK: str}
_NO_OBJECT = "they must be a JSON object"


class ToolEntry(msgspec.Struct, frozen=True):
    """An action or a distractor, seen from its tool.

    `takes` gives the type of every argument of a generated tool. `handed` are the values that have to be
    passed to it, for itself or for the action that it `replaces`; `given` are arguments that the request
    gives.
    """

    action: Action
    takes: dict[str, type]
    handed: tuple[Handover, ...] = ()
    given: Given | None = None
    replaces: str = ""
    is_needed: bool = True

    @property
    def takes_nothing(self) -> bool:
        return self.action.parameters is None and not self.takes

    def unfit(self, arguments: object) -> str:
        """What is wrong with the arguments; empty if they fit."""
        if self.action.parameters is None:
            return _unfit(self.takes, arguments)
        return (fits(self.action.parameters, arguments) or "") if isinstance(arguments, dict) else _NO_OBJECT


class ToolTable:
    """The tools of a case, how often actions are due if not once, and the special tools.

    `prices` are the prices that can be asked for, by tool; `starts_over` says whether there is a tool to
    start over.
    """

    __slots__ = ("parts", "prices", "starts_over", "times")

    def __init__(self, case: Case) -> None:
        self.times: dict[str, int] = {}
        self.parts: dict[str, ToolEntry] = {}
        self.starts_over = case.world.attempts > 1
        self.prices: dict[str, int] = {}
        takes = _TIMED if case.world.day else _NOTHING
        shaping = [constraint for constraint in case.constraints if type(constraint) in _SHAPING]
        if shaping:
            self._shape(case, takes, shaping)
        else:
            for action in case.actions:
                self.parts[action.tool] = ToolEntry(action, takes)
        for action in case.distractors:
            self.parts[action.tool] = ToolEntry(action, takes, is_needed=False)
        costs = case.world.costs
        if costs:
            priced = sorted((*case.actions, *case.distractors), key=lambda action: action.tool)
            self.prices = {action.tool: costs[action.id] for action in priced if action.id in costs}

    def _shape(self, case: Case, takes: dict[str, type], shaping: Sequence[Constraint]) -> None:
        handed: dict[str, tuple[Handover, ...]] = {}
        given: dict[str, Given] = {}
        replaces: dict[str, str] = {}
        for constraint in shaping:
            match constraint:
                case Handover():
                    handed[constraint.taker] = (*handed.get(constraint.taker, ()), constraint)
                case Given():
                    given[constraint.action] = constraint
                case StandIn():
                    replaces[constraint.by] = constraint.action
                case Repeat():
                    self.times[constraint.action] = constraint.times
        for action in case.actions:
            replaced = replaces.get(action.id, "")
            values = handed.get(replaced or action.id, ())
            types = {each.parameter: _type(case, each) for each in values}
            self.parts[action.tool] = ToolEntry(action, takes | types, values, given.get(action.id), replaced)

    def listed(self) -> list[ToolEntry]:
        """The tools in displayed order; if there are distractors, the order must not reveal them."""
        parts = list(self.parts.values())
        if all(part.is_needed for part in parts):
            return parts
        return sorted(parts, key=lambda part: part.action.tool)

    def unfit(self, tool: str, arguments: object) -> str | None:
        """What is wrong with the arguments of a tool, special ones included; None for an unknown tool."""
        part = self.parts.get(tool)
        if part is not None:
            return part.unfit(arguments)
        if not self.is_special(tool):
            return None
        if tool == START_OVER:
            return _unfit(_NOTHING, arguments)
        reason = _unfit(_TASK, arguments)
        if reason or (isinstance(arguments, dict) and arguments[TASK] in self.prices):
            return reason
        return f"'{TASK}' has to be one of {', '.join(self.prices)}"

    def is_special(self, tool: str) -> bool:
        """Whether this is a special tool, which executes no action."""
        if tool in self.parts:
            return False
        return (tool == START_OVER and self.starts_over) or (tool == ASK_PRICE and bool(self.prices))


_SHAPING = frozenset([Handover, Given, StandIn, Repeat])


def _type(case: Case, handover: Handover) -> type:
    values = case.world.values.get(handover.giver, {}).get(handover.parameter, ())
    return int if values and type(values[0]) is int else str


def _unfit(takes: dict[str, type], arguments: object) -> str:
    if not isinstance(arguments, dict):
        return _NO_OBJECT
    if arguments.keys() != takes.keys():
        missing = next((name for name in takes if name not in arguments), None)
        if missing is not None:
            return f"'{missing}' is missing"
        unknown = next(name for name in arguments if name not in takes)
        return f"there is no parameter {short(unknown)!r}"
    for name, kind in takes.items():
        if type(arguments[name]) is not kind:
            return f"'{name}' has to be {_KINDS[kind]}"
    return ""


def short(given: object) -> str:
    """A text from outside, truncated; the type of anything else."""
    text = given if isinstance(given, str) else type(given).__name__
    return text if len(text) <= 80 else f"{text[:80]}…"
