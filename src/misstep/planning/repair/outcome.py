"""Combines two readings of a request: a plan for what both say, and everything in dispute."""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from misstep.core.constraint import Adjacent, Before, Constraint, Limit, Place
from misstep.core.outcome import Call, Transcript, Usage
from misstep.errors import InternalError
from misstep.planning.admission.constraints import actions_of
from misstep.planning.judging.check import judge
from misstep.planning.repair.arrangement import ReadingComparison, compare, confirm, find_conflict, find_order
from misstep.planning.repair.reading import Need, ReadingRule, RequestReading, problem, why_senseless

SaidBy = Literal["both", "first", "second"]
Effect = Literal["kept", "changes", "contradicts", "aside", "unplanned"]


class ToolLine(msgspec.Struct, frozen=True):
    """A tool that is asked for. If only one reading says so, `instead` is the plan with it, if any."""

    id: str
    tool: str
    quote: str
    said_by: SaidBy
    instead: tuple[str, ...] | None = None


class RuleLine(msgspec.Struct, frozen=True):
    """A constraint. If only one reading has it, `effect` is what it does to the plan.

    The plan satisfies it anyway (`kept`); it `changes` the plan to `instead`; it `contradicts` what both say;
    it is about tools outside the plan (`aside`); or there is no plan to change.
    """

    words: str
    formal: str
    quote: str
    said_by: SaidBy
    constraint: Constraint
    effect: Effect | None = None
    instead: tuple[str, ...] = ()


class ConflictLine(msgspec.Struct, frozen=True):
    """Constraints, by index, that can't be met together; `confirmed` if Z3 agrees."""

    said_by: SaidBy
    constraints: tuple[int, ...]
    confirmed: bool


class RepairReport(msgspec.Struct, frozen=True):
    """What `plan repair --json` prints. `plan` is for what both readings say, null if that is impossible.

    `beyond` are words that demand something no constraint can express; the plan ignores it.
    """

    model: str
    agree: bool
    consistent: bool
    actions: tuple[ToolLine, ...]
    constraints: tuple[RuleLine, ...]
    beyond: tuple[str, ...]
    conflicts: tuple[ConflictLine, ...]
    plan: tuple[str, ...] | None
    requests: int
    tokens: Usage
    usd: float | None


class Conflict(msgspec.Struct, frozen=True):
    """Rules that contradict each other, in this reading or in what both say; `confirmed` if Z3 agrees."""

    reading: int | None
    rules: tuple[ReadingRule, ...]
    confirmed: bool


class Dispute(msgspec.Struct, frozen=True):
    """A rule that only the reading with this number has, and its effect on the plan, as in `RuleLine`."""

    reading: int
    rule: ReadingRule
    effect: Effect
    instead: tuple[str, ...] = ()


class Doubt(msgspec.Struct, frozen=True):
    """A tool that only the reading with this number needs, and the plan with it, if there is one."""

    reading: int
    need: Need
    instead: tuple[str, ...] | None


class Repair(msgspec.Struct, frozen=True):
    """Two readings, what they have in common, and a plan for that; None if it contradicts itself."""

    readings: tuple[RequestReading, RequestReading]
    common: ReadingComparison
    plan: tuple[str, ...] | None
    conflicts: tuple[Conflict, ...]
    disputes: tuple[Dispute, ...]
    doubts: tuple[Doubt, ...]


def examine(one: RequestReading, other: RequestReading) -> Repair:
    readings, common = (one, other), compare(one, other)
    tools, said = [need.tool for need in common.needs], [rule.constraint for rule in common.rules]
    plan = _plan(tools, said, common)
    disputes = [
        Dispute(number, rule, *_effect(plan, tools, said, rule.constraint))
        for number, rules in enumerate(common.own_rules)
        for rule in rules
    ]
    doubts = [
        Doubt(number, need, _plan_with(need.tool, readings[number], tools, said))
        for number, needs in enumerate(common.own_needs)
        for need in needs
    ]
    conflicts = _conflicts(readings, common)
    return Repair(readings, common, plan, tuple(conflicts), tuple(disputes), tuple(doubts))


def _plan(
    tools: Sequence[str], said: Sequence[Constraint], common: ReadingComparison
) -> tuple[str, ...] | None:
    """A plan for what both say, in an order that also satisfies as many of the other rules as possible."""
    kept = list(said)
    plan = find_order(tools, kept)
    if plan is None:
        return None
    for rule in (*common.own_rules[0], *common.own_rules[1]):
        if isinstance(rule.constraint, Before | Adjacent | Place | Limit):
            further = _find(tools, [*kept, rule.constraint])
            if further is not None:
                plan, kept = further, [*kept, rule.constraint]
    if not _meets(plan, tools, said):
        raise InternalError(
            "the plan does not meet the constraints that it was made for",
            "this is a bug in misstep: please report it with the request and its readings",
        )
    return plan


def _conflicts(
    readings: tuple[RequestReading, RequestReading], common: ReadingComparison
) -> Iterator[Conflict]:
    """Conflicts in what both say, or else in each reading by itself."""
    tools = [need.tool for need in common.needs]
    shared = find_conflict(tools, common.rules)
    if shared:
        yield Conflict(None, shared, confirm(tools, shared))
        return
    for number, reading in enumerate(readings):
        own = find_conflict(reading.tools, reading.rules)
        if own:
            yield Conflict(number, own, confirm(reading.tools, own))


def _effect(
    plan: tuple[str, ...] | None, tools: Sequence[str], said: Sequence[Constraint], disputed: Constraint
) -> tuple[Effect, tuple[str, ...]]:
    if not {*actions_of(disputed)} <= {*tools}:
        return "aside", ()
    if plan is None:
        return "unplanned", ()
    instead = _find(tools, [*said, disputed])
    if instead is None:
        return "contradicts", ()
    return ("kept", ()) if _meets(plan, tools, [*said, disputed]) else ("changes", instead)


def _plan_with(
    tool: str, reading: RequestReading, tools: Sequence[str], said: Sequence[Constraint]
) -> tuple[str, ...] | None:
    """The plan with one more tool, using what its reading says about it and the tools in the plan."""
    more = [each for each in reading.tools if each == tool or each in tools]
    about = [c for c in reading.constraints if tool in actions_of(c) and {*actions_of(c)} <= {*more}]
    return _find(more, [*said, *about])


def _find(tools: Sequence[str], constraints: Sequence[Constraint]) -> tuple[str, ...] | None:
    """A plan for constraints that come from different readings."""
    return None if why_senseless(tools, constraints) else find_order(tools, constraints)


def _meets(plan: Sequence[str], tools: Sequence[str], constraints: Sequence[Constraint]) -> bool:
    case = problem(tools, constraints)
    return judge(case, Transcript(case.id, tuple([Call(tool) for tool in plan]))).verdict == "passed"
