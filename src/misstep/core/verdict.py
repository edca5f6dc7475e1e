"""A verdict: what a transcript is worth."""

from typing import Literal

import msgspec

Judgement = Literal["passed", "failed", "inconclusive", "errored"]
ErrorKind = Literal["timeout", "act", "lost", "parameter", "order"]

JUDGEMENTS: tuple[Judgement, ...] = ("passed", "failed", "inconclusive", "errored")
ERROR_KINDS: tuple[ErrorKind, ...] = ("timeout", "act", "lost", "parameter", "order")


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """The judgement on one transcript, with its reasons.

    `step` is the number of the call at which the agent went wrong, counted from 1. `violated` and `core`
    are indices into the case's constraints: all that are broken, and a smallest set that already
    contradicts the calls up to `step`. `missing` are actions never called; `nearest` is the correct
    plan that changes the agent's own order least.
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
