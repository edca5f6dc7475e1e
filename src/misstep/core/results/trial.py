"""Trials: what an agent with real tools does with a request, and the rulings on its calls."""

from typing import Literal

import msgspec

from misstep.core.outcome import Ended, Usage
from misstep.core.tool import Invocation

# What became of a call; the last three are not findings.
Ruling = Literal[
    "crash",
    "hang",
    "blow-up",
    "schema",
    "protocol",
    "acceptance",
    "suspicious-refusal",
    "contract",
    "security",
    "refused",
    "environment",
    "fine",
]

# Rulings on calls that a tool refused.
REFUSALS: tuple[Ruling, ...] = ("refused", "suspicious-refusal")


REFUSED = "refused: "  # prefix of signatures of valid arguments that were refused


class Judged(msgspec.Struct, frozen=True, omit_defaults=True):
    """The ruling on one call, with an explanation. Calls with the same `signature` show the same defect.

    `error` is the exception type or a short name for what went wrong; `where` is the place in the tool's own
    code, as `file.py:12 in f`, empty if unknown. `tool` is at fault, if that is not the last one called.
    """

    ruling: Ruling
    why: str = ""
    signature: str = ""
    error: str = ""
    where: str = ""
    message: str = ""
    tool: str = ""

    @property
    def was_refused(self) -> bool:
        """Whether the tool, or its argument validation, refused the call."""
        return self.ruling in REFUSALS or (self.ruling == "schema" and self.signature.startswith(REFUSED))


class Use(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call that an agent made, its result, and the ruling on it.

    `arguments` is the JSON text of an object. An error was reproduced `reproduced` of `replayed` times from a
    fresh start.
    """

    tool: str
    arguments: str
    result: str
    judged: Judged
    replayed: int = 0
    reproduced: int = 0

    @property
    def call(self) -> Invocation:
        return Invocation(self.tool, self.arguments)


class Trial(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an agent did with a request. `error` is what broke, if anything did; it is not a finding."""

    request: str
    uses: tuple[Use, ...] = ()
    answer: str = ""
    ended: Ended = "answered"
    error: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0

    def calls_up_to(self, place: int) -> tuple[Invocation, ...]:
        """The calls up to the use at this index, including it."""
        return tuple(use.call for use in self.uses[: place + 1])

    @property
    def is_usable(self) -> bool:
        """Whether the agent finished on its own, so that its calls and answer can be judged."""
        return self.ended == "answered" and not self.error
