"""Finds the fewest calls that show a defect again.

Settles what comes of one defect, in the time there is for it.
"""

import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from misstep.core.results.trial import Judged
from misstep.core.tool import Invocation
from misstep.fuzzing.triage.defect_index import Defect
from misstep.fuzzing.triage.replay import Judge, Replayer, never
from misstep.fuzzing.triage.shrinking import Shrunk, shrink
from misstep.fuzzing.workbench import Workbench

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


FOR_ONE = 20.0  # seconds
FOR_SLOW_ONE = 40.0  # where every call that shows it takes as long as a call may


class Settled(msgspec.Struct, frozen=True):
    """What a defect came to: `calls` show it from a fresh start if it was `reproduced`.

    With `replayed` nought there was no time to look at it again.
    """

    calls: tuple[Invocation, ...]
    judged: Judged
    replayed: int
    reproduced: int
    spent: int = 0  # calls


def settle(
    entry: Defect, bench: Workbench, judge: Judge, stopped: Callable[[], bool], until: float
) -> Settled:
    """Whether a defect shows itself again, found out before `until`, by the clock that never goes back."""
    confirmed = confirm(entry, bench, judge, over=_over(entry, stopped, until))
    times = confirmed.replayed, confirmed.reproduced
    return Settled(confirmed.calls, entry.judged, *times, confirmed.spent)


def make_small(
    entry: Defect, settled: Settled, bench: Workbench, judge: Judge, stopped: Callable[[], bool], until: float
) -> Settled:
    """The same with the smallest calls that are found before `until`."""
    large = Shrunk(settled.calls, entry.judged, 0, False)
    small = shrink(large.calls, entry.judged, bench, judge, over=_over(entry, stopped, until))
    if not bench.starts_quickly and small.calls != large.calls:
        small = _checked(small, large, Replayer(bench, judge, len(small.calls), stopped))
    times = settled.replayed, settled.reproduced
    return Settled(small.calls, small.judged, *times, settled.spent + small.spent)


def _over(entry: Defect, stopped: Callable[[], bool], until: float) -> Callable[[], bool]:
    """Whether there is no more time for one defect."""
    seconds = FOR_SLOW_ONE if entry.kind in ("hang", "blow-up") else FOR_ONE
    end = min(until, time.monotonic() + seconds)
    return lambda: stopped() or time.monotonic() >= end


def _checked(small: Shrunk, large: Shrunk, replayer: Replayer) -> Shrunk:
    """The small calls if they show it from a fresh start as well; else the large ones, which did."""
    chosen = small if replayer.shows(small.calls, large.judged) else large
    return Shrunk(chosen.calls, chosen.judged, small.spent + replayer.spent, chosen.minimal)
