"""Finds out whether a defect shows itself again, and which calls that takes."""

from collections.abc import Iterator, Sequence

import msgspec

from misstep.core.tool import Invocation
from misstep.tooling.triage.book import Entry
from misstep.tooling.triage.replay import Judge, Replayer
from misstep.tooling.workbench import Workbench

REPLAYS = 3  # of calls that have shown it once again
MOST_CALLS = 400


class Confirmed(msgspec.Struct, frozen=True):
    """The fewest calls found that show a defect from a fresh start, and how often they did.

    With `reproduced` nought the calls are those that showed it first; it may have been chance, or have begun
    longer ago than is remembered. With fewer than `replayed` it is flaky. `spent` counts all calls made.
    """

    calls: tuple[Invocation, ...]
    replayed: int
    reproduced: int
    spent: int

    @property
    def flaky(self) -> bool:
        return self.reproduced < self.replayed


def confirm(
    entry: Entry, bench: Workbench, judge: Judge, replays: int = REPLAYS, most: int = MOST_CALLS
) -> Confirmed:
    """Replay a defect: the call alone, then with more and more of the calls that came before it."""
    replayer = Replayer(bench, judge, most)
    for calls in _longer_and_longer(entry):
        if replayer.shows(calls, entry.judged):
            return _again(calls, entry, replayer, replays)
    return _again(entry.calls, entry, replayer, replays, already=0)


def _again(
    calls: Sequence[Invocation], entry: Entry, replayer: Replayer, replays: int, already: int = 1
) -> Confirmed:
    """How often calls show it that have shown it `already` times out of once."""
    replayed, reproduced = 1, already
    while replayed < replays:
        shown = replayer.shows(calls, entry.judged)
        if shown is None:
            break
        replayed, reproduced = replayed + 1, reproduced + shown
    return Confirmed(tuple(calls), replayed, reproduced, replayer.spent)


def _longer_and_longer(entry: Entry) -> Iterator[tuple[Invocation, ...]]:
    """The call alone, its attempt, that with 1, 2, 4, … of the calls before it, and what showed it first."""
    yield entry.calls[-1:]
    if len(entry.calls) > 1:
        yield entry.calls
    more = 1
    while more < len(entry.before):
        yield (*entry.before[-more:], *entry.calls)
        more *= 2
    if entry.before:
        yield (*entry.before, *entry.calls)
    if entry.original != entry.calls:
        yield entry.original
