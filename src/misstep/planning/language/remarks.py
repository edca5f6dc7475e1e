"""The syntax of sentences about anything but plain order: each is one remark, before words are chosen.

Actions are numbers from 0, as in `syntax`. A remark is the only part of its sentence.
"""

from typing import Any, Literal, TypeAlias

import msgspec

Direction = Literal["<", ">"]
Edge = Literal["start", "end"]
Bound = Literal["after", "before"]
NeighbourForm = Literal["verb", "preposition", "fronted preposition"]
ConditionalForm = Literal["asks first", "then first"]

TIMED: tuple[tuple[Edge, Bound], ...] = (("start", "after"), ("start", "before"), ("end", "before"))
CONDITIONAL_FORMS: tuple[ConditionalForm, ...] = ("asks first", "then first")
NEIGHBOUR_FORMS: tuple[NeighbourForm, ...] = ("verb", "preposition", "fronted preposition")


class Timed(msgspec.Struct, frozen=True):
    """`S starts after T`, or `before T, S ends`: the same demand on each of some actions."""

    form: Literal["verb", "fronted"]
    edge: Edge
    bound: Bound
    time: int
    actions: tuple[int, ...]


class TimedRelative(msgspec.Struct, frozen=True):
    """`which starts after T`, attached to a single action in an ordering clause."""

    edge: Edge
    bound: Bound
    time: int


class Neighbours(msgspec.Struct, frozen=True):
    """The subject comes directly before (`<`) or directly after (`>`) the object."""

    form: NeighbourForm
    direction: Direction
    subject: int
    object: int


class End(msgspec.Struct, frozen=True):
    """An action is the first or the last of all."""

    place: Literal["first", "last"]
    action: int


class Alternative(msgspec.Struct, frozen=True):
    """One of two actions, not both, in the order in which they are named."""

    options: tuple[int, int]


class Conditional(msgspec.Struct, frozen=True):
    """If `asks` reports the finding, `then`; otherwise the other one, or nothing.

    The text names `asks` first, or `then`.
    """

    asks: int
    finding: str
    then: int
    otherwise: int | None = None
    form: ConditionalForm = "asks first"


class RepeatRemark(msgspec.Struct, frozen=True):
    """An action is carried out `times` times."""

    action: int
    times: int


class Limited(msgspec.Struct, frozen=True):
    """At most `most` others come before an action."""

    action: int
    most: int


class BudgetRemark(msgspec.Struct, frozen=True):
    """Everything together costs at most `most`."""

    most: int


class HandOver(msgspec.Struct, frozen=True):
    """A value, named by its noun, is passed from one action to another."""

    giver: int
    taker: int
    value: str


class Replacing(msgspec.Struct, frozen=True):
    """`by` replaces an action that is out of service."""

    action: int
    by: int


class Duty(msgspec.Struct, frozen=True):
    """Actions that are due but not mentioned otherwise."""

    actions: tuple[int, ...]


class Giving(msgspec.Struct, frozen=True):
    """The arguments for one of the user's own tools."""

    action: int
    arguments: dict[str, Any]


Remark: TypeAlias = (
    Timed
    | Neighbours
    | End
    | Alternative
    | Conditional
    | RepeatRemark
    | Limited
    | BudgetRemark
    | HandOver
    | Replacing
    | Duty
    | Giving
)
