"""A proposed call sequence: as an `Idea` before it is accepted, and as an `Attempt` to be made."""

import msgspec

from misstep.core.tool import Invocation
from misstep.fuzzing.search.corpus import Calls, CorpusEntry


class CallSequence(msgspec.Struct, frozen=True):
    """Calls to make one after the other.

    `mark` requests observations of what the code does with the arguments. `origin` says how they were
    generated. `fits` says for each call whether its arguments fit the schema; `broken` is what is wrong with
    the first that don't.
    """

    number: int
    calls: tuple[Invocation, ...]
    mark: bool
    origin: str
    fits: tuple[bool, ...]
    broken: str = ""


class CallIdea:
    """Calls and how they were generated.

    `broken` is what is wrong with their arguments, empty if nothing, None if unknown. `entry` is the corpus
    entry they are to tell more about. `again` if they may repeat earlier calls, `urgent` if they follow a
    discovery.
    """

    __slots__ = ("again", "broken", "calls", "entry", "mark", "origin", "size", "source", "urgent")

    def __init__(
        self,
        calls: Calls,
        origin: str,
        mark: bool = False,
        broken: str | None = None,
        again: bool = False,
    ) -> None:
        self.calls = calls
        self.origin = origin
        self.source = origin
        self.mark = mark
        self.broken = broken
        self.again = again
        self.entry: CorpusEntry | None = None
        self.size = 0
        self.urgent = False
