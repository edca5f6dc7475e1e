"""Finds the simplest calls that still show a defect."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from misstep.core.results.trial import Judged
from misstep.core.tool import Invocation, Reaction
from misstep.fuzzing.triage.measure import measure
from misstep.fuzzing.triage.replay import Binding, Judge, Replayer, bindings_of, is_name, is_same, never
from misstep.fuzzing.triage.steps import lower_together, simpler_arguments, simpler_together, values_given
from misstep.fuzzing.workbench import Workbench
from misstep.schemas.schema import fits

MOST_CALLS = 200
MORE_CALLS = 12  # for each call ahead of the one that shows it, since all are made again at every step
MOST_SLOW_CALLS = 12  # where every call that shows it takes as long as a call may
FIRST_TOGETHER = 24  # steps with a text that is given several times, before places are looked at one by one

Calls = tuple[Invocation, ...]


class Shrunk(msgspec.Struct, frozen=True):
    """The simplest calls found. `minimal` if no single step makes them simpler; else it had to end before."""

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
    """The simplest calls whose last one still shows the same defect, within so many calls to the tools.

    Without a number they are few where each takes long, as with hangs, and enough for most defects elsewhere.
    These calls are taken to show it. Fewer calls come first, then arguments that fit their schema, then text
    that can be printed, then whatever is shorter. Same calls, same tools: same result, unless it is over.
    Where a fresh start takes long there is none between the steps of a single call: whether the result shows
    the defect from one is to be seen. A call that is given what an earlier one returned, such as an id, is
    given what that one returns now.
    """
    if most is None:
        is_slow = like.ruling in ("hang", "blow-up")
        most = MOST_SLOW_CALLS if is_slow else MOST_CALLS + MORE_CALLS * (len(calls) - 1)
    return _Shrinking(tuple(calls), like, bench, Replayer(bench, judge, most, over)).run()


class _Shrinking:
    def __init__(self, calls: Calls, like: Judged, bench: Workbench, replayer: Replayer) -> None:
        self._schemas = {described.name: described.tool.parameters for described in bench.tools}
        self._fresh = bench.starts_quickly or len(calls) > 1  # else what is left behind takes part
        self._replayer = replayer
        self._like = like
        self._tried: set[Calls] = {calls}
        self._best = calls, like
        self._measure = measure(calls, self._fits)
        self._exhausted = False
        self._results = tuple[Reaction, ...]()
        self._bound = Counter[str | int]()  # names that calls take from results: they can't be made simpler

    def run(self) -> Shrunk:
        """Leave out calls, then make the rest simpler, again and again until neither leads any further."""
        if len(self._best[0]) > 1:
            self._look_at_results()
        self._lower()
        while self._drop_calls() or self._lower() or self._simplify():
            pass
        return Shrunk(*self._best, self._replayer.spent, not self._exhausted)

    def _look_at_results(self) -> None:
        """See what the calls return from a fresh start, for what later ones take from it."""
        judged = self._replayer.last_of(self._best[0])
        if judged is not None and is_same(judged, self._like):
            self._keep_results()

    def _keep_results(self) -> None:
        calls, results = self._best[0], self._replayer.results
        self._results = results if len(calls) > 1 else ()
        names = {each.value for each in bindings_of(calls, self._results) if is_name(each.value)}
        self._bound = Counter(value for value in values_given(calls) if value in names)

    def _lower(self) -> bool:
        """Have the calls be about things that were made earlier; whether that was possible."""
        return any(self._try(calls) for calls in lower_together(self._best[0]))

    def _drop_calls(self) -> bool:
        """Leave out calls, many at a time at first and then fewer; whether there were any to leave out."""
        before = size = len(self._best[0]) - 1
        while size:
            start = 0
            while start < len(self._best[0]) - 1:
                calls = self._best[0]
                kept = [place for place in range(len(calls)) if not start <= place < start + size]
                kept = kept if kept[-1:] == [len(calls) - 1] else [*kept, len(calls) - 1]
                if not self._try(tuple(calls[place] for place in kept), kept):
                    start += size
            size //= 2
        return len(self._best[0]) - 1 < before

    def _simplify(self) -> bool:
        """Go on from step to step to the last one; whether any led further."""
        start, improved = 0, False
        while (place := self._improve(start)) is not None:
            start, improved = place, True
        return improved

    def _improve(self, start: int) -> int | None:
        """Take the first step from `start` on that leads further, and say which it was.

        Where a step worked, the one in its place is the next to be tried: what lies before it is as it was.
        """
        steps = enumerate(self._steps())
        return next((place for place, calls in steps if place >= start and self._try(calls)), None)

    def _steps(self) -> Iterator[Calls]:
        calls = self._best[0]
        yield from islice(simpler_together(calls), FIRST_TOGETHER)
        for number in reversed(range(len(calls))):
            call = calls[number]
            for arguments in simpler_arguments(self._schemas.get(call.tool, {}), json.loads(call.arguments)):
                yield (*calls[:number], Invocation(call.tool, _text(arguments)), *calls[number + 1 :])
        yield from simpler_together(calls)

    def _try(self, calls: Calls, kept: Sequence[int] | None = None) -> bool:
        """Take calls that are simpler and show the defect; `kept` are their places among the best so far."""
        if self._exhausted or calls in self._tried or measure(calls, self._fits) >= self._measure:
            return False
        if kept is None and not self._bound <= Counter(values_given(calls)):
            return False
        self._tried.add(calls)
        places = range(len(calls)) if kept is None else kept
        known = [self._results[place] for place in places] if self._results else []
        bindings = bindings_of(calls, known) if known else []
        by_chance = any(not is_name(each.value) for each in bindings)
        return self._shows(calls, bindings) or (by_chance and self._shows(calls, ()))

    def _shows(self, calls: Calls, bindings: Sequence[Binding]) -> bool:
        judged = self._replayer.last_of(calls, self._fresh, bindings=bindings)
        if judged is None:
            self._exhausted = True
            return False
        size = measure(self._replayer.made, self._fits)
        if not is_same(judged, self._like) or size >= self._measure:
            return False
        self._best, self._measure = (self._replayer.made, judged), size
        self._keep_results()
        return True

    def _fits(self, tool: str, arguments: dict[str, Any]) -> bool:
        return fits(self._schemas.get(tool, {}), arguments) is None


def _text(arguments: dict[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=True)
