"""The interface to the process that calls tools, with a limit on calls and a pipeline that keeps it busy."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Protocol, TypeAlias

from msgspec.structs import replace

from misstep.core.results.fuzzing import CodeReach
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Invocation, Probe, Reaction
from misstep.fuzzing.search.corpus import CallSequence
from misstep.fuzzing.search.fuzzer import Fuzzer

STRETCH = 1024  # calls at a time


def calls_in_flight(starts_quickly: bool) -> int:
    """How many calls a workbench has in flight: fewer to a server, where each takes longer.

    The fuzzer learns from the results so much sooner.
    """
    return 64 if starts_quickly else 16


class Workbench(Protocol):
    """Tools in a separate process. Calls see the state that earlier calls left."""

    @property
    def tools(self) -> Sequence[Described]: ...

    @property
    def files(self) -> Sequence[str]:
        """Paths of files and folders in the tools' working directory; not all if there are many."""
        ...

    @property
    def starts_quickly(self) -> bool:
        """Whether `reset` takes no longer than a few calls; false for a server, which has to be restarted."""
        ...

    def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
        """Make the calls in order, and yield each reaction as soon as it is known.

        At most `calls_in_flight` probes are taken at a time, and only while at most that many are in flight.
        A call hangs if it takes `patience` times the time limit. There are fewer reactions than probes if
        the run was stopped. After a call that hung, died or ran out of memory, the rest continues from the
        initial state.
        """
        ...

    def reset(self) -> None:
        """Restore the tools' state and files to what they were after loading."""
        ...

    def reach(self, tool: str) -> CodeReach | None:
        """How much of the tool's own code has run so far; None if that is unknown."""
        ...


def run_calls(
    bench: Workbench, calls: Sequence[Invocation], patience: float = 1.0, watch: bool = False
) -> list[Reaction]:
    """Make the calls in order, some of them after a fresh start."""
    reactions = list[Reaction]()
    starts = [place for place, call in enumerate(calls) if call.sent == "afresh"]
    for start, end in pairwise(sorted({0, *starts, len(calls)})):
        if start in starts:
            bench.reset()
        part = list(calls[start:end])
        if part[-1].sent == "together":  # with nothing
            part[-1] = replace(part[-1], sent="in turn")
        reactions += bench.run([Probe(call, watch=watch) for call in part], patience)
        if len(reactions) < end:  # no more calls are possible, or granted
            break
    return reactions


class Grants(Protocol):
    """Decides how many calls may be made."""

    def reserve_calls(self, wanted: int, least: int = 1) -> int:
        """How many of the `wanted` calls may be made, 0 if fewer than `least`; they count as made."""
        ...

    def give_back(self, calls: int) -> None:
        """Return reserved calls that were not made."""
        ...


class MeteredWorkbench:
    """A workbench with a limit: calls that belong together are made if all are granted, else none.

    `made` counts them. `is_out` is set when some were denied.
    """

    def __init__(self, bench: Workbench, grants: Grants | None) -> None:
        self._bench = bench
        self._grants = grants
        self.made = 0
        self.is_out = False
        self.tools, self.files, self.starts_quickly = bench.tools, bench.files, bench.starts_quickly
        self.reset, self.reach = bench.reset, bench.reach

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


# Judges the reactions to an attempt, which may have been interrupted after some calls.
Take: TypeAlias = Callable[[CallSequence, Sequence[Reaction]], Sequence[Judged]]


class Stretch:
    """Runs several portions of calls. The next portion is requested while the last one is still running.

    The fuzzer then knows the results of all portions but the last one, regardless of timing: the same seed
    and the same reactions give the same calls. A portion is twice as large as the number of calls in flight:
    when a workbench asks for more, so many are in flight, and as many have just been taken.
    """

    def __init__(self, fuzzer: Fuzzer, bench: Workbench, take: Take) -> None:
        self._fuzzer = fuzzer
        self._bench = bench
        self._take = take
        self._portion = 2 * calls_in_flight(bench.starts_quickly)
        self._flying = deque[tuple[int, CallSequence]]()
        self._heard = deque[tuple[int, CallSequence, Sequence[Reaction], Sequence[Judged]]]()

    def run(self, most: int, over: Callable[[], bool]) -> int:
        """Make up to `most` calls, fewer if `over`, and return their number."""
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
        self._tell(STRETCH)
        for _, attempt in self._flying:  # they were not made
            self._fuzzer.tell(attempt, (), ())
        return made

    def _probes(self, most: int) -> Iterator[Probe]:
        for portion in range(STRETCH // self._portion):
            self._tell(portion - 2)
            calls = 0
            for attempt in self._fuzzer.ask(min(most, self._portion)):
                some = attempt.calls[: most - calls]
                calls += len(some)
                self._flying.append((portion, attempt))
                yield from [Probe(call, attempt.mark) for call in some]
            most -= calls
            if calls < self._portion or not most:
                return  # not enough work to overlap: wait for the results first

    def _hear(self, reactions: Sequence[Reaction]) -> None:
        portion, attempt = self._flying.popleft()
        self._heard.append((portion, attempt, reactions, self._take(attempt, reactions)))

    def _tell(self, last: int) -> None:
        """Pass the results of portions up to this one to the fuzzer."""
        while self._heard and self._heard[0][0] <= last:
            _, attempt, reactions, judged = self._heard.popleft()
            self._fuzzer.tell(attempt, reactions, judged)
