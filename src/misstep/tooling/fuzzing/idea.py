"""Calls that somebody thought of, before it is settled whether they are made."""

from misstep.tooling.fuzzing.learning.corpus import Calls, Entry


class Idea:
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
        self.entry: Entry | None = None
        self.size = 0
        self.urgent = False
