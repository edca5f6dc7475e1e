"""Keeps a workbench busy with what a fuzzer asks for."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from misstep.core.ruling import Judged
from misstep.core.tool import Probe, Reaction
from misstep.tooling.fuzzing.attempt import Attempt
from misstep.tooling.fuzzing.fuzzer import Fuzzer
from misstep.tooling.workbench import AHEAD, Workbench

PORTION = 2 * AHEAD  # calls that are asked for at a time
PORTIONS = 8  # in one stretch

# Rules on what came of an attempt, or of the beginning of one that was broken off.
Take: TypeAlias = Callable[[Attempt, Sequence[Reaction]], Sequence[Judged]]


class Stretch:
    """Some portions of calls. The next portion is asked for while the last one is still being carried out.

    What the fuzzer knows by then is what came of all portions but that one, however fast they were: the same
    seed and the same reactions give the same calls. A workbench has carried out all but the last `PORTION`
    when it asks for more: up to `AHEAD` are under way, and as many have just been taken.
    """

    def __init__(self, fuzzer: Fuzzer, bench: Workbench, take: Take) -> None:
        self._fuzzer = fuzzer
        self._bench = bench
        self._take = take
        self._flying = deque[tuple[int, Attempt]]()
        self._heard = deque[tuple[int, Attempt, Sequence[Reaction], Sequence[Judged]]]()

    def run(self, most: int, over: Callable[[], bool]) -> int:
        """Make up to so many calls, fewer where it is over before; says how many were made."""
        made, reactions = 0, list[Reaction]()
        for reaction in self._bench.run(self._probes(most)):
            made += 1
            reactions.append(reaction)
            if len(reactions) == len(self._flying[0][1].calls):
                self._hear(reactions)
                reactions = []
            if over():
                break
        if reactions:
            self._hear(reactions)
        self._tell(PORTIONS)
        return made

    def _probes(self, most: int) -> Iterator[Probe]:
        for portion in range(PORTIONS):
            self._tell(portion - 2)
            calls = 0
            for attempt in self._fuzzer.ask(min(most, PORTION)):
                some = attempt.calls[: most - calls]
                calls += len(some)
                self._flying.append((portion, attempt))
                yield from [Probe(call, attempt.mark) for call in some]
            most -= calls
            if calls < PORTION or not most:
                return  # there is too little to do for both sides: it is better to learn first

    def _hear(self, reactions: Sequence[Reaction]) -> None:
        portion, attempt = self._flying.popleft()
        self._heard.append((portion, attempt, reactions, self._take(attempt, reactions)))

    def _tell(self, last: int) -> None:
        """Tell the fuzzer what came of portions up to this one."""
        while self._heard and self._heard[0][0] <= last:
            _, attempt, reactions, judged = self._heard.popleft()
            self._fuzzer.tell(attempt, reactions, judged)
