"""Decodes and bounds the reports of calls, and makes reactions for calls that got no answer.

Tools share the reporting process, so they can send whatever they like in its name: nothing in a report is
trusted, and nothing in it may grow without limit.
"""

import signal
from collections.abc import Sequence, Set

import msgspec
from msgspec.structs import replace

from misstep.core.results.fuzzing import CodeReach
from misstep.core.tool import Frame, Raised, Reaction
from misstep.fuzzing.coverage import apart, reach_in
from misstep.tool_host import protocol as say

MOST_OF_MEMORY = 0.8  # share of the limit; a process killed with this much probably ran out of memory


def hung(ended: say.CallerStopped | say.Overrun | None, limits: say.Limits, seconds: float) -> Reaction:
    """The call timed out and its process was ended, unless the supervisor ended it for another reason."""
    if isinstance(ended, say.Overrun):
        return _overran(ended, seconds)
    detail = f"it gave no answer within {limits.timeout:g} seconds"
    raised = Raised("Hang", detail, frames=ended.frames) if ended and ended.frames else None
    computed = ended.computed if ended else 0.0
    return Reaction("hung", detail=detail, raised=raised, seconds=seconds, computed=computed)


def died(ended: say.CallerStopped | say.Overrun | None, limits: say.Limits, seconds: float) -> Reaction:
    if isinstance(ended, say.Overrun):
        return _overran(ended, seconds)
    if ended is None:
        return Reaction("died", detail="it killed other processes", seconds=seconds)
    if ended.status == -signal.SIGXCPU:  # many threads can use up the CPU time before the call times out
        return hung(ended, limits, seconds)
    name, detail = _cause(ended.status)
    raised = Raised(name, detail, frames=ended.frames)
    if ended.status == say.MEMORY_FULL or (ended.status < 0 and ended.peak > limits.memory * MOST_OF_MEMORY):
        return Reaction("exhausted", detail=detail, raised=raised, seconds=seconds, memory=ended.peak)
    return Reaction("died", detail=detail, raised=raised, seconds=seconds)


def _overran(overrun: say.Overrun, seconds: float) -> Reaction:
    if overrun.what == "memory":
        detail = f"it had {overrun.amount // say.MEGABYTE:,} MB of memory"
        return Reaction("exhausted", detail=detail, seconds=seconds, memory=overrun.amount)
    detail = f"it had {overrun.amount:,} {overrun.what}, more than allowed"
    return Reaction("died", detail=detail, seconds=seconds)


def _cause(status: int) -> tuple[str, str]:
    """How a process ended, as a name and in words."""
    if status >= 0:
        return _STATUSES.get(status, ("Exit", f"it exited with status {status}"))
    names = {each.value: each.name for each in signal.Signals}
    name = names.get(-status, f"signal {-status}")
    return name, f"its process was ended by {name}"


_STATUSES = {
    say.LINE_CLOSED: ("Closed", "it closed its process's file descriptors"),
    say.MEMORY_FULL: ("MemoryError", "it used up all memory"),
    say.BROKEN: ("Broken", "it broke its interpreter"),
}


ORDINARY = 1 << 16  # bytes of a report in which nothing can be too large
LARGEST = 1 << 53  # of a number
TEXT = 1 << 14  # characters
STRUCTURED = 1 << 20
MOST_EDGES = 1 << 20  # of all calls together
MOST_LINES = 1 << 17  # per file
MOST_LISTED = 1 << 20  # lines of all functions together
MOST_FILES = 1 << 10
MOST_OBSERVATIONS = 400
MOST_FRAMES = 200

_reports = msgspec.json.Decoder(say.Report)


class ReactionDecoder:
    """Decodes reports, and records which lines have run and which edges are known."""

    def __init__(self) -> None:
        self._lines = dict[str, set[int]]()
        self._functions = dict[str, set[frozenset[int]]]()
        self._listed = 0  # lines of all functions
        self._edges = set[int]()

    def take(self, row: bytes) -> Reaction:
        """The reaction in a report. Raises `MsgspecError` if it is invalid."""
        report = _reports.decode(row)
        for file, lines in report.lines.items():
            if file in self._lines or len(self._lines) < MOST_FILES:
                self._lines.setdefault(file, set()).update(filter(_is_line, lines))
        for file in report.functions.keys() & self._lines.keys():
            self._add_functions(file, report.functions[file])
        reaction = report.reaction if len(row) <= ORDINARY else _bounded(report.reaction)
        if max(reaction.size, reaction.memory, -reaction.size, -reaction.memory) > LARGEST:
            reaction = replace(reaction, size=0, memory=0)
        return replace(reaction, edges=self._known(reaction.edges)) if reaction.edges else reaction

    def _add_functions(self, file: str, functions: Sequence[Sequence[int]]) -> None:
        known = self._functions.setdefault(file, set())
        for each in functions:
            lines = frozenset(filter(_is_line, each))
            if lines and lines not in known and self._listed + len(lines) <= MOST_LISTED:
                known.add(lines)
                self._listed += len(lines)

    def lines_of(self, file: str) -> Set[int]:
        return self._lines.get(file, set())

    def reach(self) -> CodeReach | None:
        """How much of the functions of servers that calls reached has run; None if none are known."""
        functions = {
            file: apart(sorted(map(set[int], each), key=min)) for file, each in self._functions.items()
        }
        return reach_in(functions, self._lines) if functions else None

    def forget(self) -> None:
        self._lines.clear()
        self._functions.clear()
        self._listed = 0

    def _known(self, edges: tuple[int, ...]) -> tuple[int, ...]:
        """The edges that fit the limits."""
        if len(self._edges) + len(edges) > MOST_EDGES:
            return tuple(edge for edge in edges if edge in self._edges)
        fitting = tuple(edge for edge in edges if 0 <= edge < LARGEST)
        self._edges.update(fitting)
        return fitting


def _is_line(line: int) -> bool:
    return 0 < line < MOST_LINES


def _bounded(reaction: Reaction) -> Reaction:
    structured, observations = reaction.structured, reaction.observations[:MOST_OBSERVATIONS]
    return replace(
        reaction,
        text=reaction.text[:TEXT],
        structured=structured if structured is None or len(structured) <= STRUCTURED else None,
        raised=_bounded_raised(reaction.raised) if reaction.raised else None,
        detail=reaction.detail[:TEXT],
        observations=tuple(each for each in observations if len(msgspec.json.encode(each)) <= ORDINARY),
    )


def _bounded_raised(raised: Raised) -> Raised:
    frames = [
        Frame(each.file[:TEXT], each.line, each.function[:TEXT], each.own, each.text[:TEXT])
        for each in raised.frames[-MOST_FRAMES:]
    ]
    bases = tuple(base[:TEXT] for base in raised.bases[:MOST_FRAMES])
    kind, message = raised.kind[:TEXT], raised.message[:TEXT]
    return replace(raised, kind=kind, message=message, bases=bases, frames=tuple(frames))
