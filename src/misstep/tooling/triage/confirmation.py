"""Finds the fewest calls that show a defect again."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from misstep.core.tool import Invocation
from misstep.tooling.triage.defect_index import Defect
from misstep.tooling.triage.replay import Judge, Replayer, never
from misstep.tooling.workbench import Workbench

REPLAYS = 3  # of calls that have shown it once again
DEAR_REPLAYS = 2  # where a fresh start takes long
MOST_CALLS = 600
LONGER = 2.0  # times as long as a call may take, before it hangs once again: it may have been a busy machine


class Confirmed(msgspec.Struct, frozen=True):
    """The fewest calls found that show a defect from a fresh start, and how often they did.

    With `reproduced` nought the calls are those that showed it first; it may have been chance, or have begun
    longer ago than is remembered. With fewer than `replayed` it shows itself now and then only. With
    `replayed` nought there was no time to find out. `spent` counts all calls made.
    """

    calls: tuple[Invocation, ...]
    replayed: int
    reproduced: int
    spent: int


def confirm(
    entry: Defect, bench: Workbench, judge: Judge, most: int = MOST_CALLS, over: Callable[[], bool] = never
) -> Confirmed:
    """Replay a defect: the call alone, then with more and more of the calls that came before it."""
    replayer = Replayer(bench, judge, most, over)
    patience = LONGER if _is_endless(entry) else 1.0
    for calls in _longer_and_longer(entry):
        if replayer.shows(calls, entry.judged, patience):
            return _again(calls, entry, replayer, _replays(entry, bench))
    if over():
        return Confirmed(entry.calls, 0, 0, replayer.spent)
    return _again(entry.calls, entry, replayer, _replays(entry, bench), already=0)


def _replays(entry: Defect, bench: Workbench) -> int:
    """How often it is worth seeing again; a hang takes all the time that a call may."""
    if _is_endless(entry):
        return 1
    return REPLAYS if bench.starts_quickly else DEAR_REPLAYS


def _is_endless(entry: Defect) -> bool:
    """Whether a call was given up on, computing or waiting."""
    return entry.kind == "hang" or entry.judged.error == "CPU"


def _again(
    calls: Sequence[Invocation], entry: Defect, replayer: Replayer, replays: int, already: int = 1
) -> Confirmed:
    """How often calls show it that have shown it `already` times out of once."""
    replayed, reproduced = 1, already
    while replayed < replays:
        shown = replayer.shows(calls, entry.judged)
        if shown is None:
            break
        replayed, reproduced = replayed + 1, reproduced + shown
    return Confirmed(tuple(calls), replayed, reproduced, replayer.spent)


def _longer_and_longer(entry: Defect) -> Iterator[tuple[Invocation, ...]]:
    """The call alone, its attempt, what showed it first, then more and more of what came before them."""
    yield entry.calls[-1:]
    if len(entry.calls) > 1:
        yield entry.calls
    if entry.original != entry.calls:
        yield entry.original
    histories = dict.fromkeys(((entry.earlier, entry.original), (entry.before, entry.calls)))
    more = 1
    while any(more < 2 * len(before) for before, _ in histories):
        for before, calls in histories:
            if more < 2 * len(before):
                yield (*before[-more:], *calls)
        more *= 2
