"""What two readings of a request in the wild come to."""

from typing import Literal

import msgspec

from misstep.core.constraint import Constraint
from misstep.core.transcript import Usage

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

    The plan has `kept` it anyway; it `changes` the plan to `instead`; it `contradicts` what both say; it
    stands `aside`, with tools that the plan has not; or there is no plan to change.
    """

    words: str
    formal: str
    quote: str
    said_by: SaidBy
    constraint: Constraint
    effect: Effect | None = None
    instead: tuple[str, ...] = ()


class ConflictLine(msgspec.Struct, frozen=True):
    """Constraints, by index, that can't be met together; `confirmed` if Z3 says so too."""

    said_by: SaidBy
    constraints: tuple[int, ...]
    confirmed: bool


class RepairReport(msgspec.Struct, frozen=True):
    """What `plan repair --json` prints. `plan` is for what both readings say, null where that can't be done.

    `beyond` are words that demand something no constraint can say; the plan knows nothing of it.
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
