"""Takes in what the process says of calls, and no more of it than an honest one has to say.

Tools share that process. They can say whatever they like in its name, as often as they like.
"""

from collections.abc import Set

import msgspec
from msgspec.structs import replace

from misstep.core.tool import Frame, Observation, Raised, Reaction
from misstep.tool_host.protocol import Report

ORDINARY = 1 << 16  # bytes of a report of which no part can be too large
LARGEST = 1 << 53  # of a number
TEXT = 1 << 14  # characters
STRUCTURED = 1 << 20
MOST_EDGES = 1 << 20  # of all calls together
MOST_LINES = 1 << 17  # of a file
MOST_FILES = 1 << 10
MOST_OBSERVATIONS = 400
MOST_FRAMES = 200

_reports = msgspec.json.Decoder(Report)


class ReactionDecoder:
    """Remembers which lines have been run, and how many edges there have been."""

    def __init__(self) -> None:
        self._lines = dict[str, set[int]]()
        self._edges = set[int]()

    def take(self, row: bytes) -> Reaction:
        """The reaction that a row tells of. Raises a `MsgspecError` for what is no report."""
        report = _reports.decode(row)
        for file, lines in report.lines.items():
            self._note(file, lines)
        reaction = report.reaction if len(row) <= ORDINARY else _bounded(report.reaction)
        if max(reaction.size, reaction.memory, -reaction.size, -reaction.memory) > LARGEST:
            reaction = replace(reaction, size=0, memory=0)
        return replace(reaction, edges=self._known(reaction.edges)) if reaction.edges else reaction

    def lines_of(self, file: str) -> Set[int]:
        """The lines of a file that have been run."""
        return self._lines.get(file, set())

    def forget(self) -> None:
        """Begin with no lines that have been run."""
        self._lines.clear()

    def _note(self, file: str, lines: tuple[int, ...]) -> None:
        if file in self._lines or len(self._lines) < MOST_FILES:
            self._lines.setdefault(file, set()).update(line for line in lines if 0 < line < MOST_LINES)

    def _known(self, edges: tuple[int, ...]) -> tuple[int, ...]:
        """Those of the edges that there is room for."""
        if len(self._edges) + len(edges) <= MOST_EDGES:
            fitting = tuple(edge for edge in edges if 0 <= edge < LARGEST)
        else:
            fitting = tuple(edge for edge in edges if edge in self._edges)
        self._edges.update(fitting)
        return fitting


def _bounded(reaction: Reaction) -> Reaction:
    structured = reaction.structured
    return replace(
        reaction,
        text=reaction.text[:TEXT],
        structured=structured if structured is None or len(structured) <= STRUCTURED else None,
        raised=_bounded_raised(reaction.raised) if reaction.raised else None,
        detail=reaction.detail[:TEXT],
        observations=tuple(filter(_is_ordinary, reaction.observations[:MOST_OBSERVATIONS])),
    )


def _bounded_raised(raised: Raised) -> Raised:
    frames = raised.frames[-MOST_FRAMES:]
    return replace(
        raised,
        kind=raised.kind[:TEXT],
        message=raised.message[:TEXT],
        bases=tuple(base[:TEXT] for base in raised.bases[:MOST_FRAMES]),
        frames=tuple(Frame(each.file[:TEXT], each.line, each.function[:TEXT], each.own) for each in frames),
    )


def _is_ordinary(observation: Observation) -> bool:
    return len(msgspec.json.encode(observation)) <= ORDINARY
