"""An outcome: a case, the transcript of what the agent did with it, and the verdict."""

from typing import Any, Literal

import msgspec

from misstep.core.case import Baselines, Case


def storable(text: str) -> str:
    """Make text encodable as UTF-8: lone surrogates become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


Ended = Literal["answered", "timeout", "iterations", "error"]


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """One tool call as the agent made it, valid or not.

    `turn` numbers the agent's turns, so that calls made in parallel share one. `at` is the time since the
    case began, in seconds. `ran` is its position in the order of execution: 0 if calls were executed in the
    order in which they were emitted, -1 if the call was never executed.
    """

    tool: str
    arguments: Any = msgspec.field(default_factory=dict)
    result: str = ""
    turn: int | None = None
    at: float | None = None
    ran: int = 0


class Usage(msgspec.Struct, frozen=True):
    """Tokens used; `cached` are the input tokens that the server had seen before and charges less for."""

    input: int = 0
    output: int = 0
    cached: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.input + other.input, self.output + other.output, self.cached + other.cached)


class Metered(msgspec.Struct, frozen=True):
    """Tokens reported together, as those of one reply are; `at` is as in `Call`."""

    at: float
    usage: Usage


class Transcript(msgspec.Struct, frozen=True, omit_defaults=True):
    """Calls in the order in which the agent emitted them, and how it ended.

    `misread` counts turns that were neither a call nor an answer; `messages` are included if they were asked
    for. `metered` records when the tokens of `usage` were used. A line of a plans file has the same format;
    only the case and the calls are required.
    """

    case: str
    calls: tuple[Call, ...]
    ended: Ended = "answered"
    answer: str = ""
    error: str = ""
    usage: Usage = Usage()
    misread: int = 0
    messages: tuple[Any, ...] = ()
    metered: tuple[Metered, ...] = ()


Judgement = Literal["passed", "failed", "inconclusive", "errored"]
ErrorKind = Literal["timeout", "act", "lost", "parameter", "order"]

JUDGEMENTS: tuple[Judgement, ...] = ("passed", "failed", "inconclusive", "errored")
ERROR_KINDS: tuple[ErrorKind, ...] = ("timeout", "act", "lost", "parameter", "order")


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """The judgement on one transcript, with its reasons.

    `step` is the number of the call at which the agent went wrong, counted from 1. `violated` and `core` are
    indices into the case's constraints: all that are broken, and a smallest set that already contradicts the
    calls up to `step`. `missing` are actions that were never called; `nearest` is the correct plan that
    changes the agent's own order least.
    """

    case: str
    verdict: Judgement
    error: ErrorKind | None = None
    step: int | None = None
    violated: tuple[int, ...] = ()
    core: tuple[int, ...] = ()
    missing: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()
    explanation: str = ""


class Outcome(msgspec.Struct, frozen=True):
    """A judged case. `baselines` is None if an older version stored it."""

    case: Case
    transcript: Transcript
    verdict: Verdict
    seconds: float = 0.0
    baselines: Baselines | None = None
