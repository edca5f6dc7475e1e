"""Constraints: the formal relations between actions, one kind for each thing that a request can demand.

Actions are named by their ids. `sentence` is the index of the sentence that says so. What each of them
demands of a history is defined in `planning.judging.semantics`.
"""

from typing import Any, Literal, TypeAlias, assert_never, get_args

import msgspec

Family = Literal["order", "time", "data", "adjacent", "choice", "repeat", "budget", "dynamic"]
FAMILIES: tuple[Family, ...] = get_args(Family)


class _Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="kind"):
    pass


class Before(_Kind, frozen=True, tag="before"):
    """`first` has to be carried out before `then`.

    If a result announces it, `announced` is the action with that result, and it binds what comes afterwards.
    """

    first: str
    then: str
    sentence: int | None = None
    announced: str = ""


class Window(_Kind, frozen=True, tag="time"):
    """The `edge` of an action lies `after` or `before` a time, in minutes since midnight, or right at it."""

    action: str
    edge: Literal["start", "end"]
    bound: Literal["after", "before"]
    time: int
    sentence: int | None = None


class Handover(_Kind, frozen=True, tag="data"):
    """What the giver returns under this name has to be passed to the taker, exactly and fresh."""

    giver: str
    taker: str
    parameter: str
    sentence: int | None = None


class Adjacent(_Kind, frozen=True, tag="adjacent"):
    """`then` comes right after `first`, with nothing in between."""

    first: str
    then: str
    sentence: int | None = None


class Place(_Kind, frozen=True, tag="place"):
    """The action is the first or the last of all."""

    action: str
    place: Literal["first", "last"]
    sentence: int | None = None


class Choice(_Kind, frozen=True, tag="choice"):
    """Exactly one of the options is carried out."""

    options: tuple[str, ...]
    sentence: int | None = None


class Condition(_Kind, frozen=True, tag="condition"):
    """If `asks` reports the finding, `then` has to be carried out afterwards, else `otherwise`, if any.

    The other of the two must not be.
    """

    asks: str
    finding: str
    then: str
    otherwise: str = ""
    sentence: int | None = None


class Repeat(_Kind, frozen=True, tag="repeat"):
    """The action is carried out exactly so many times."""

    action: str
    times: int
    sentence: int | None = None


class Limit(_Kind, frozen=True, tag="limit"):
    """At most so many others are carried out before the action, each time counted."""

    action: str
    most: int
    sentence: int | None = None


class Spend(_Kind, frozen=True, tag="budget"):
    """Everything carried out costs at most so much together."""

    most: int
    sentence: int | None = None


class StandIn(_Kind, frozen=True, tag="stand-in"):
    """If the action is out of service, `by` takes its place; otherwise `by` must not be carried out."""

    action: str
    by: str
    sentence: int | None = None


class Given(_Kind, frozen=True, tag="given"):
    """The action's tool has to be called with these arguments, exactly."""

    action: str
    arguments: dict[str, Any]
    sentence: int | None = None


Constraint: TypeAlias = (
    Before
    | Window
    | Handover
    | Adjacent
    | Place
    | Choice
    | Condition
    | Repeat
    | Limit
    | Spend
    | StandIn
    | Given
)


def family_of(constraint: Constraint) -> Family | None:
    """The family that a constraint belongs to; given arguments belong to none."""
    match constraint:
        case Before():
            return "dynamic" if constraint.announced else "order"
        case Window():
            return "time"
        case Handover():
            return "data"
        case Adjacent() | Place():
            return "adjacent"
        case Choice() | Condition():
            return "choice"
        case Repeat() | Limit():
            return "repeat"
        case Spend():
            return "budget"
        case StandIn():
            return "dynamic"
        case Given():
            return None
        case _:
            assert_never(constraint)
