"""Settles what comes of one defect, in the time there is for it."""

import time
from collections.abc import Callable

import msgspec

from misstep.core.ruling import Judged
from misstep.core.tool import Invocation
from misstep.tooling.triage.confirmation import confirm
from misstep.tooling.triage.defect_index import Defect
from misstep.tooling.triage.replay import Judge, Replayer
from misstep.tooling.triage.shrinking import Shrunk, shrink
from misstep.tooling.workbench import Workbench

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
