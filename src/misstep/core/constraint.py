"""Constraints: the formal relations between actions, one class for each thing a request can demand.

Actions are named by id. `sentence` is the index of the sentence that states the constraint. What each
constraint demands of a history is defined by the reference in `tests/planning/judging/semantics.py`.
"""

from typing import Any, Literal, TypeAlias, assert_never, get_args

import msgspec

Family = Literal["order", "time", "data", "adjacent", "choice", "repeat", "budget", "dynamic"]
FAMILIES: tuple[Family, ...] = get_args(Family)


class _Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="kind"):
    pass


class Before(_Kind, frozen=True, tag="before"):
    """`first` must be carried out before `then`.

    If the constraint is announced by a tool result, `announced` is the action with that result; the
    constraint then applies only to what comes afterwards.
    """

    first: str
    then: str
    sentence: int | None = None
    announced: str = ""


class Window(_Kind, frozen=True, tag="time"):
    """The action's start or end is `after` or `before` a time (minutes since midnight), inclusive."""

    action: str
    edge: Literal["start", "end"]
    bound: Literal["after", "before"]
    time: int
    sentence: int | None = None


class Handover(_Kind, frozen=True, tag="data"):
    """The giver's latest value for this parameter must be passed to the taker, exactly as returned."""

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
    """If `asks` reports the finding, `then` must be carried out afterwards, else `otherwise`, if any.

    The other one must not be carried out.
    """

    asks: str
    finding: str
    then: str
    otherwise: str = ""
    sentence: int | None = None


class Repeat(_Kind, frozen=True, tag="repeat"):
    """The action is carried out exactly `times` times."""

    action: str
    times: int
    sentence: int | None = None


class Limit(_Kind, frozen=True, tag="limit"):
    """At most `most` other actions are carried out before this one, repetitions counted."""

    action: str
    most: int
    sentence: int | None = None


class Spend(_Kind, frozen=True, tag="budget"):
    """Everything carried out costs at most `most` in total."""

    most: int
    sentence: int | None = None


class StandIn(_Kind, frozen=True, tag="stand-in"):
    """If the action is out of service, `by` replaces it; otherwise `by` must not be carried out."""

    action: str
    by: str
    sentence: int | None = None


class Given(_Kind, frozen=True, tag="given"):
    """The action's tool must be called with exactly these arguments."""

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
    """The family of a constraint; None for `Given`."""
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
