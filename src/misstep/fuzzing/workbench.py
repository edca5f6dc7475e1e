"""Where tools are called, seen from whoever decides about the calls.

A workbench that makes no more calls than it is granted.

Keeps a workbench busy with what a fuzzer asks for.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeAlias

from misstep.core.results.finding import CodeReach
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Probe, Reaction
from misstep.fuzzing.search.attempt import CallSequence
from misstep.fuzzing.search.fuzzer import Fuzzer

AHEAD = 64  # calls


class Workbench(Protocol):
    """Tools in a process of their own. What one call does to their state, the next one meets."""

    @property
    def tools(self) -> Sequence[Described]: ...

    @property
    def files(self) -> Sequence[str]:
        """Names of files and folders that tools find where they start, seen from there; not all if many."""
        ...

    @property
    def starts_quickly(self) -> bool:
        """Whether `reset` takes no longer than a few calls; a server has to be started again for it."""
        ...

    def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
        """Make the calls in order, and give what came of each as soon as it is known.

        No more than `AHEAD` are taken at a time, and only while no more than that are under way. A call hangs
        when it takes `patience` times as long as one may. There are fewer reactions than probes if it was
        told to stop.
        After one that hung, died or took all memory the rest goes on with everything as it was at the
        beginning.
        """
        ...

    def reset(self) -> None:
        """Put the tools' state and their files back to what they were when they had been loaded."""
        ...

    def reach(self, tool: str) -> CodeReach | None:
        """How much of the tool's own code has been run so far; None where it can't be seen."""
        ...


class Grants(Protocol):
    """Says how many calls may be made."""

    def reserve_calls(self, wanted: int, least: int = 1) -> int:
        """How many of so many calls may be made now, nought if fewer than `least`; they count as made."""
        ...

    def give_back(self, calls: int) -> None:
        """Take back calls that were not made after all."""
        ...


class MeteredWorkbench:
    """Calls that belong together are made if all of them are granted, and none of them otherwise.

    `made` counts them. Once some were denied, `is_out`.
    """

    def __init__(self, bench: Workbench, grants: Grants | None) -> None:
        self._bench = bench
        self._grants = grants
        self.made = 0
        self.is_out = False

    @property
    def tools(self) -> Sequence[Described]:
        return self._bench.tools

    @property
    def files(self) -> Sequence[str]:
        return self._bench.files

    @property
    def starts_quickly(self) -> bool:
        return self._bench.starts_quickly

    def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
        wanted = list(probes)
        if self._grants and not self._grants.reserve_calls(len(wanted), len(wanted)):
            self.is_out = True
            return
        before = self.made
        try:
            for reaction in self._bench.run(wanted, patience):
                self.made += 1
                yield reaction
        finally:
            if self._grants:
                self._grants.give_back(len(wanted) - (self.made - before))

    def reset(self) -> None:
        self._bench.reset()

    def reach(self, tool: str) -> CodeReach | None:
        return self._bench.reach(tool)


PORTION = 2 * AHEAD  # calls that are asked for at a time
PORTIONS = 8  # in one stretch

# Rules on what came of an attempt, or of the beginning of one that was broken off.
Take: TypeAlias = Callable[[CallSequence, Sequence[Reaction]], Sequence[Judged]]


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
        self._flying = deque[tuple[int, CallSequence]]()
        self._heard = deque[tuple[int, CallSequence, Sequence[Reaction], Sequence[Judged]]]()

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
