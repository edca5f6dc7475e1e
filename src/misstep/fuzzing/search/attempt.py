"""Calls that the fuzzer wants to be made.

Calls that somebody thought of, before it is settled whether they are made.
"""

import msgspec

from misstep.core.tool import Invocation
from misstep.fuzzing.search.corpus import Calls, CorpusEntry


class CallSequence(msgspec.Struct, frozen=True):
    """Calls to be made one after the other.

    `mark` asks for what the code does with their arguments. `origin` says how they were come by. `fits` says
    of each whether its arguments are what the schema asks for; `broken` is what is wrong with the first that
    are not.
    """

    number: int
    calls: tuple[Invocation, ...]
    mark: bool
    origin: str
    fits: tuple[bool, ...]
    broken: str = ""


class CallIdea:
    """Calls with how they were come by.

    `broken` is what is wrong with their arguments, empty if nothing is, None if that is not known. `entry` is
    what in the corpus they are to tell more about. `again` if it doesn't matter that they were made before,
    `urgent` if they come of something new.
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
