"""A transcript: what an agent did with a case."""

from typing import Any, Literal

import msgspec


def storable(text: str) -> str:
    """Text from outside in a form that can be encoded: lone surrogates become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


Ended = Literal["answered", "timeout", "iterations", "error"]


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """One tool call as the agent made it, fitting or not.

    `turn` numbers the agent's turns, so that calls made in parallel share one; `at` is the time since
    the case began, in seconds.
    """

    tool: str
    arguments: Any = msgspec.field(default_factory=dict)
    result: str = ""
    turn: int | None = None
    at: float | None = None


class Usage(msgspec.Struct, frozen=True):
    """Tokens spent."""

    input: int = 0
    output: int = 0


class Transcript(msgspec.Struct, frozen=True, omit_defaults=True):
    """Calls in the order in which the agent emitted them, and how it ended.

    A line of a plans file is the same thing with less in it: the case and the calls suffice.
    """

    case: str
    calls: tuple[Call, ...]
    ended: Ended = "answered"
    answer: str = ""
    error: str = ""
    usage: Usage = Usage()
