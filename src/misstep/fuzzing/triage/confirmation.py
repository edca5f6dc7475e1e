"""Replays a defect from a fresh start, with as few calls as possible, and minimises it in limited time."""

import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from misstep.core.results.trial import Judged
from misstep.core.tool import Invocation
from misstep.fuzzing.triage.defect_index import Defect
from misstep.fuzzing.triage.replay import Judge, Replayer, never
from misstep.fuzzing.triage.shrinking import Shrunk, shrink
from misstep.fuzzing.workbench import Workbench

REPLAYS = 3  # of calls that reproduced it once
DEAR_REPLAYS = 2  # if a fresh start takes long
MOST_CALLS = 600
LONGER = 2.0  # more time for a call that hung before: the machine may have been busy


class Confirmed(msgspec.Struct, frozen=True):
    """The fewest calls found that show a defect from a fresh start, and how often they did.

    If `reproduced` is 0, the calls are those that showed it first: it may have been chance, or depend on
    calls that were forgotten. If it is less than `replayed`, the defect is intermittent. If `replayed` is 0,
    there was no time to try. `spent` counts all calls made.
    """

    calls: tuple[Invocation, ...]
    replayed: int
    reproduced: int
    spent: int


def confirm(
    entry: Defect, bench: Workbench, judge: Judge, most: int = MOST_CALLS, over: Callable[[], bool] = never
) -> Confirmed:
    """Replay a defect: the call alone, then with more and more of the calls before it."""
    replayer = Replayer(bench, judge, most, over)
    patience = LONGER if _is_endless(entry) else 1.0
    for calls in _longer_and_longer(entry):
        if replayer.shows(calls, entry.judged, patience):
            return _again(calls, entry, replayer, _replays(entry, bench))
    if over():
        return Confirmed(entry.calls, 0, 0, replayer.spent)
    return _again(entry.calls, entry, replayer, _replays(entry, bench), already=0)


def _replays(entry: Defect, bench: Workbench) -> int:
    """How often to replay; a hang takes the full time limit every time."""
    if _is_endless(entry):
        return 1
    return REPLAYS if bench.starts_quickly else DEAR_REPLAYS


def _is_endless(entry: Defect) -> bool:
    """Whether the call exceeded its time limit, computing or waiting."""
    return entry.kind == "hang" or entry.judged.error == "CPU"


def _again(
    calls: Sequence[Invocation], entry: Defect, replayer: Replayer, replays: int, already: int = 1
) -> Confirmed:
    """Replay calls that have shown the defect `already` times in one replay."""
    replayed, reproduced = 1, already
    while replayed < replays:
        shown = replayer.shows(calls, entry.judged)
        if shown is None:
            break
        replayed, reproduced = replayed + 1, reproduced + shown
    return Confirmed(tuple(calls), replayed, reproduced, replayer.spent)


def _longer_and_longer(entry: Defect) -> Iterator[tuple[Invocation, ...]]:
    """The call alone, its attempt, the first calls that showed it, then with more and more earlier calls."""
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
FOR_SLOW_ONE = 40.0  # if every call that shows it takes the full time limit


class Settled(msgspec.Struct, frozen=True):
    """The result for a defect: `calls` show it from a fresh start if it was `reproduced`.

    If `replayed` is 0, there was no time to try.
    """

    calls: tuple[Invocation, ...]
    judged: Judged
    replayed: int
    reproduced: int
    spent: int = 0  # calls


def settle(
    entry: Defect, bench: Workbench, judge: Judge, stopped: Callable[[], bool], until: float
) -> Settled:
    """Try to reproduce a defect before `until` (by the monotonic clock)."""
    confirmed = confirm(entry, bench, judge, over=_over(entry, stopped, until))
    times = confirmed.replayed, confirmed.reproduced
    return Settled(confirmed.calls, entry.judged, *times, confirmed.spent)


def make_small(
    entry: Defect, settled: Settled, bench: Workbench, judge: Judge, stopped: Callable[[], bool], until: float
) -> Settled:
    """The same defect with the smallest calls found before `until`."""
    large = Shrunk(settled.calls, entry.judged, 0, False)
    small = shrink(large.calls, entry.judged, bench, judge, over=_over(entry, stopped, until))
    if not bench.starts_quickly and small.calls != large.calls:
        small = _checked(small, large, Replayer(bench, judge, len(small.calls), stopped))
    times = settled.replayed, settled.reproduced
    return Settled(small.calls, small.judged, *times, settled.spent + small.spent)


def _over(entry: Defect, stopped: Callable[[], bool], until: float) -> Callable[[], bool]:
    """A function that tells whether the time for this defect is up."""
    seconds = FOR_SLOW_ONE if entry.kind in ("hang", "blow-up") else FOR_ONE
    end = min(until, time.monotonic() + seconds)
    return lambda: stopped() or time.monotonic() >= end


def _checked(small: Shrunk, large: Shrunk, replayer: Replayer) -> Shrunk:
    """The small calls if they show the defect from a fresh start too; otherwise the large ones."""
    chosen = small if replayer.shows(small.calls, large.judged) else large
    return Shrunk(chosen.calls, chosen.judged, small.spent + replayer.spent, chosen.minimal)
