"""What an agent that has real tools does with a request.

Rulings: what became of calls of tools.
"""

from typing import Literal

import msgspec

from misstep.core.outcome import Ended, Usage
from misstep.core.tool import Invocation

# What became of a call; the last three are no findings.
Ruling = Literal[
    "crash",
    "hang",
    "blow-up",
    "schema",
    "protocol",
    "acceptance",
    "suspicious-refusal",
    "refused",
    "environment",
    "fine",
]

# Rulings on calls that a tool refused.
REFUSALS: tuple[Ruling, ...] = ("refused", "suspicious-refusal")


REFUSED = "refused: "  # how signatures begin of fitting arguments that were refused


class Judged(msgspec.Struct, frozen=True, omit_defaults=True):
    """A ruling on one call, and why in words. Calls with the same `signature` show the same defect.

    `error` is the type of what went wrong, or a short name for it; `where` is the place in the tool's own
    code, as `file.py:12 in f`, empty where that is not known.
    """

    ruling: Ruling
    why: str = ""
    signature: str = ""
    error: str = ""
    where: str = ""
    message: str = ""

    @property
    def was_refused(self) -> bool:
        """Whether the tool, or what checks its arguments, did not take the call."""
        return self.ruling in REFUSALS or (self.ruling == "schema" and self.signature.startswith(REFUSED))


class Use(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call of a tool that an agent made, what it was told, and what that is worth.

    `arguments` is the JSON text of an object. Where it was an error, `reproduced` of `replayed` times it came
    again from a fresh start.
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
    """What an agent did with a request. `error` is what broke if something did, which is nobody's finding."""

    request: str
    uses: tuple[Use, ...] = ()
    answer: str = ""
    ended: Ended = "answered"
    error: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0

    def calls_up_to(self, place: int) -> tuple[Invocation, ...]:
        """The calls that it takes to come to the use at this place, that one included."""
        return tuple(use.call for use in self.uses[: place + 1])

    @property
    def is_usable(self) -> bool:
        """Whether the agent came to an end of its own, so that what it did and said can be judged."""
        return self.ended == "answered" and not self.error
