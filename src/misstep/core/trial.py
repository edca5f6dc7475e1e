"""What an agent that has real tools does with a request."""

import msgspec

from misstep.core.ruling import Judged
from misstep.core.tool import Invocation
from misstep.core.transcript import Ended, Usage


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
