"""Replays a defect from a fresh start, and finds the simplest calls that still show it, in limited time."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec.structs import replace

from misstep.core.results.trial import Judged
from misstep.core.tool import Invocation, Reaction
from misstep.fuzzing.returned import misfit_of
from misstep.fuzzing.triage import steps
from misstep.fuzzing.triage.defect_index import Defect
from misstep.fuzzing.triage.replay import Binding, Judge, Replayer, bindings_of, is_name, is_same, never
from misstep.fuzzing.workbench import Workbench

SEQUENTIAL = ("contract", "security")  # kinds that all calls of a sequence show together
REPLAYS = 3  # of calls that reproduced it once
DEAR_REPLAYS = 2  # if a fresh start takes long
MOST_CALLS = 600
LONGER = 2.0  # more time for a call that hung before: the machine may have been busy
UNANSWERED = ("cancellation", "time-out")  # contracts that a call without an answer may break


class Settled(msgspec.Struct, frozen=True):
    """The calls that show a defect from a fresh start, and how often they did.

    If `reproduced` is 0, the calls are those that showed it first: it may have been chance, or depend on
    calls that were forgotten. If it is less than `replayed`, the defect is intermittent. If `replayed` is 0,
    there was no time to try. `spent` counts all calls made.
    """

    calls: tuple[Invocation, ...]
    judged: Judged
    replayed: int
    reproduced: int
    spent: int = 0


def confirm(
    entry: Defect, bench: Workbench, judge: Judge, most: int = MOST_CALLS, over: Callable[[], bool] = never
) -> Settled:
    """Replay a defect: the call alone, then with more and more of the calls before it."""
    replayer = Replayer(bench, judge, most, over, watch=entry.kind in SEQUENTIAL)
    # A hang, computing or waiting, takes the full time limit every time.
    is_endless = entry.kind == "hang" or entry.judged.error == "CPU"
    replays = 1 if is_endless else REPLAYS if bench.starts_quickly else DEAR_REPLAYS
    patience = LONGER if is_endless or entry.judged.error in UNANSWERED else 1.0
    for calls in _longer_and_longer(entry):
        if replayer.shows(calls, entry.judged, patience):
            return _again(calls, entry, replayer, replays)
    if over():
        return Settled(entry.calls, entry.judged, 0, 0, replayer.spent)
    return _again(entry.calls, entry, replayer, replays, already=0)


def _again(
    calls: Sequence[Invocation], entry: Defect, replayer: Replayer, replays: int, already: int = 1
) -> Settled:
    """Replay calls that have shown the defect `already` times in one replay."""
    replayed, reproduced = 1, already
    while replayed < replays:
        shown = replayer.shows(calls, entry.judged)
        if shown is None:
            break
        replayed, reproduced = replayed + 1, reproduced + shown
    return Settled(tuple(calls), entry.judged, replayed, reproduced, replayer.spent)


def _longer_and_longer(entry: Defect) -> Iterator[tuple[Invocation, ...]]:
    """The call alone, its attempt, the first calls that showed it, then with more and more earlier calls."""
    if entry.kind not in SEQUENTIAL:  # which takes all of its calls
        yield entry.calls[-1:]
    if len(entry.calls) > 1 or entry.kind in SEQUENTIAL:
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


def settle(
    entry: Defect, bench: Workbench, judge: Judge, stopped: Callable[[], bool], until: float
) -> Settled:
    """Try to reproduce a defect before `until` (by the monotonic clock)."""
    return confirm(entry, bench, judge, over=_over(entry, stopped, until))


def make_small(
    entry: Defect, settled: Settled, bench: Workbench, judge: Judge, stopped: Callable[[], bool], until: float
) -> Settled:
    """The same defect with the smallest calls found before `until`."""
    small = shrink(settled.calls, entry.judged, bench, judge, over=_over(entry, stopped, until))
    chosen, spent = (small.calls, small.judged), settled.spent + small.spent
    if not bench.starts_quickly and small.calls != settled.calls:
        # They were tried without a fresh start each: they have to show it from one too.
        replayer = Replayer(bench, judge, len(small.calls), stopped, watch=entry.kind in SEQUENTIAL)
        if not replayer.shows(small.calls, entry.judged):
            chosen = settled.calls, entry.judged
        spent += replayer.spent
    return Settled(*chosen, settled.replayed, settled.reproduced, spent)


def _over(entry: Defect, stopped: Callable[[], bool], until: float) -> Callable[[], bool]:
    seconds = FOR_SLOW_ONE if entry.kind in ("hang", "blow-up") else FOR_ONE
    end = min(until, time.monotonic() + seconds)
    return lambda: stopped() or time.monotonic() >= end


MOST_STEPS = 200  # calls
MORE_CALLS = 12  # for each earlier call, since all are repeated at every step
MOST_SLOW_CALLS = 12  # if every call that shows it takes the full time limit
MOST_MADE_CALLS = 5  # for each call of a sequence about a contract
FIRST_TOGETHER = 24  # steps that change repeated texts everywhere, before single places

Calls = tuple[Invocation, ...]


class Shrunk(msgspec.Struct, frozen=True):
    """The simplest calls found. `minimal` if no single step makes them simpler, else it was stopped."""

    calls: Calls
    judged: Judged
    spent: int
    minimal: bool


def shrink(
    calls: Sequence[Invocation],
    like: Judged,
    bench: Workbench,
    judge: Judge,
    most: int | None = None,
    over: Callable[[], bool] = never,
) -> Shrunk:
    """The simplest calls whose last one still shows the same defect, using at most `most` calls.

    By default that is a small number if calls are slow, as with hangs, and otherwise enough for most defects.
    The given calls are assumed to show it. Fewer calls are preferred, then arguments that fit their schema,
    then printable text, then less of everything. The result is deterministic, unless time runs out.

    If a fresh start takes long, a single call is tried without one, so the result has to be checked. A call
    that uses a value that an earlier one returned, such as an id, gets the newly returned one.
    """
    if most is None:
        most = _most_for(calls, like)
    replayer = Replayer(bench, judge, most, over, watch=like.ruling in SEQUENTIAL)
    return _Shrinking(tuple(calls), like, bench, replayer, over).run()


def _most_for(calls: Sequence[Invocation], like: Judged) -> int:
    if like.ruling in SEQUENTIAL:  # they were made for the purpose, and are simple
        return MOST_MADE_CALLS * len(calls)
    is_slow = like.ruling in ("hang", "blow-up")
    return MOST_SLOW_CALLS if is_slow else MOST_STEPS + MORE_CALLS * (len(calls) - 1)


class _Shrinking:
    def __init__(
        self, calls: Calls, like: Judged, bench: Workbench, replayer: Replayer, over: Callable[[], bool]
    ) -> None:
        self._schemas = {described.name: described.tool.parameters for described in bench.tools}
        # State from earlier steps interferes with sequences; those about contracts begin with a control.
        self._fresh = bench.starts_quickly or (len(calls) > 1 and like.ruling not in SEQUENTIAL)
        self._replayer = replayer
        self._over = over
        self._like = like
        self._tried: set[Calls] = {calls}
        self._best = calls, like
        self._measure = steps.measure(calls, self._fits)
        self._exhausted = False
        self._results = tuple[Reaction, ...]()
        self._bound = Counter[str | int]()  # values that calls take from results: they cannot be simplified

    def run(self) -> Shrunk:
        """Remove calls and simplify the rest until neither helps."""
        # Learn which results later calls use.
        if len(self._best[0]) > 1 and self._replayer.shows(self._best[0], self._like):
            self._keep_results()
        self._lower()
        while self._drop_calls() or self._lower() or self._simplify():
            pass
        return Shrunk(*self._best, self._replayer.spent, not self._exhausted)

    def _keep_results(self) -> None:
        calls, results = self._best[0], self._replayer.results
        self._results = results if len(calls) > 1 else ()
        names = {each.value for each in bindings_of(calls, self._results) if is_name(each.value)}
        self._bound = Counter(value for value in steps.values_given(calls) if value in names)

    def _lower(self) -> bool:
        """Replace numbered things by earlier ones, as in `T9` by `T1`. Returns whether that worked."""
        return any(self._try(calls) for calls in self._in_time(steps.lower_together(self._best[0])))

    def _drop_calls(self) -> bool:
        """Remove calls, many at first and then fewer. Returns whether any were removed."""
        before = size = len(self._best[0]) - 1
        while size:
            start = 0
            while start < len(self._best[0]) - 1:
                calls, end = self._best[0], start + size
                kept = [*range(start), *range(min(end, len(calls) - 1), len(calls))]
                if not self._try(tuple(calls[place] for place in kept), kept):
                    start += size
            size //= 2
        return len(self._best[0]) - 1 < before

    def _simplify(self) -> bool:
        """Apply all steps in order. Returns whether any helped."""
        start, improved = 0, False
        while True:
            numbered = enumerate(islice(self._in_time(self._steps()), start, None), start)
            place = next((place for place, calls in numbered if self._try(calls)), None)
            if place is None:
                return improved
            start, improved = place, True  # the steps before it are unchanged

    def _in_time(self, found: Iterable[Calls]) -> Iterator[Calls]:
        """Calls to try, until there is no more time: large arguments have very many, most not worth a try."""
        for calls in found:
            self._exhausted = self._exhausted or self._over()
            if self._exhausted:
                return
            yield calls

    def _steps(self) -> Iterator[Calls]:
        calls = self._best[0]
        yield from islice(steps.simpler_together(calls), FIRST_TOGETHER)
        for number in reversed(range(len(calls))):
            call = calls[number]
            for arguments in steps.simpler_arguments(
                self._schemas.get(call.tool, {}), json.loads(call.arguments)
            ):
                simpler = replace(call, arguments=json.dumps(arguments))
                yield (*calls[:number], simpler, *calls[number + 1 :])
        yield from steps.simpler_together(calls)

    def _try(self, calls: Calls, kept: Sequence[int] | None = None) -> bool:
        """Accept calls that are simpler and show the defect; `kept` are their indexes in the best so far."""
        if self._exhausted or calls in self._tried or steps.measure(calls, self._fits) >= self._measure:
            return False
        if kept is None and not self._bound <= Counter(steps.values_given(calls)):
            return False
        self._tried.add(calls)
        places = range(len(calls)) if kept is None else kept
        known = [self._results[place] for place in places] if self._results else []
        bindings = bindings_of(calls, known) if known else []
        by_chance = any(not is_name(each.value) for each in bindings)
        fresh = self._fresh or kept is not None  # the state may be what an omitted call led to
        return self._shows(calls, bindings, fresh) or (by_chance and self._shows(calls, (), fresh))

    def _shows(self, calls: Calls, bindings: Sequence[Binding], fresh: bool) -> bool:
        judged = self._replayer.last_of(calls, fresh, bindings=bindings)
        if judged is None:
            self._exhausted = True
            return False
        size = steps.measure(self._replayer.made, self._fits)
        if not is_same(judged, self._like) or size >= self._measure:
            return False
        self._best, self._measure = (self._replayer.made, judged), size
        self._keep_results()
        return True

    def _fits(self, tool: str, arguments: dict[str, Any]) -> bool:
        return misfit_of(self._schemas.get(tool, {}), arguments) is None
