"""Finds the simplest calls that still show a defect."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from misstep.core.finding import Judged
from misstep.core.tool import Invocation
from misstep.schemas.schema import fits
from misstep.tooling.triage.measure import measure
from misstep.tooling.triage.replay import Judge, Replayer, is_same
from misstep.tooling.triage.steps import simpler_arguments, without_chunks
from misstep.tooling.workbench import Workbench

MOST_CALLS = 200
MOST_SLOW_CALLS = 12  # where every call that shows it takes as long as a call may

Calls = tuple[Invocation, ...]


class Shrunk(msgspec.Struct, frozen=True):
    """The simplest calls found. `minimal` if no single step makes them simpler; else the calls ran out."""

    calls: Calls
    judged: Judged
    spent: int
    minimal: bool


def shrink(
    calls: Sequence[Invocation], like: Judged, bench: Workbench, judge: Judge, most: int | None = None
) -> Shrunk:
    """The simplest calls whose last one still shows the same defect, within so many calls to the tools.

    Without a number they are few where each takes long, as with hangs, and enough for most defects elsewhere.
    These calls are taken to show it. Fewer calls come first, then arguments that fit their schema, then text
    that can be printed, then whatever is shorter. Same calls, same tools: same result.
    """
    if most is None:
        most = MOST_SLOW_CALLS if like.ruling in ("hang", "blow-up") else MOST_CALLS
    return _Shrinking(tuple(calls), like, bench, judge, most).run()


class _Shrinking:
    def __init__(self, calls: Calls, like: Judged, bench: Workbench, judge: Judge, most: int) -> None:
        self._schemas = {described.name: described.tool.parameters for described in bench.tools}
        self._replayer = Replayer(bench, judge, most)
        self._like = like
        self._tried: set[Calls] = {calls}
        self._best = calls, like
        self._measure = measure(calls, self._fits)
        self._exhausted = False

    def run(self) -> Shrunk:
        """Go on from step to step, and begin at the first again until none leads any further."""
        start = 0
        while not self._exhausted:
            place = self._improve(start)
            if place is None and start == 0:
                break
            start = place or 0
        return Shrunk(*self._best, self._replayer.spent, not self._exhausted)

    def _improve(self, start: int) -> int | None:
        """Take the first step from `start` on that leads further, and say which it was.

        Where a step worked, the one in its place is the next to be tried: what lies before it is as it was.
        """
        steps = enumerate(self._steps())
        return next((place for place, calls in steps if place >= start and self._try(calls)), None)

    def _steps(self) -> Iterator[Calls]:
        calls = self._best[0]
        for before in without_chunks(calls[:-1]):
            yield (*before, calls[-1])
        for number in reversed(range(len(calls))):
            call = calls[number]
            for arguments in simpler_arguments(self._schemas.get(call.tool, {}), json.loads(call.arguments)):
                yield (*calls[:number], Invocation(call.tool, _text(arguments)), *calls[number + 1 :])

    def _try(self, calls: Calls) -> bool:
        if self._exhausted or calls in self._tried:
            return False
        size = measure(calls, self._fits)
        if size >= self._measure:
            return False
        self._tried.add(calls)
        judged = self._replayer.last_of(calls)
        if judged is None:
            self._exhausted = True
            return False
        if not is_same(judged, self._like):
            return False
        self._best, self._measure = (calls, judged), size
        return True

    def _fits(self, tool: str, arguments: dict[str, Any]) -> bool:
        return fits(self._schemas.get(tool, {}), arguments) is None


def _text(arguments: dict[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=True)
