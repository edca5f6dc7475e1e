"""Identifies defects: all calls that show the same defect get the same signature."""

from collections import Counter
from hashlib import sha256
from pathlib import PurePath

from misstep.core.results.finding import FindingKind
from misstep.core.tool import Frame, Raised
from misstep.fuzzing.judging.wording import normalise

ID = 10  # hexadecimal digits of an id


def signature_of(raised: Raised) -> str:
    """The exception's type and location in the tool's own code, or its message if that is unknown."""
    place = decisive_frame(raised)
    if place is None:
        return f"{raised.kind}: {normalise(raised.message)}"
    return f"{raised.kind} at {spot(place)}"


def decisive_frame(raised: Raised) -> Frame | None:
    """The innermost frame of the tool's own code, or of any code if there is none.

    Where a recursion ends is arbitrary, so for recursion errors it is the first of the repeated frames,
    ordered by file and line.
    """
    own = [frame for frame in raised.frames if frame.own] or list(raised.frames)
    if raised.kind == "RecursionError":
        often = Counter(own)
        repeated = [frame for frame in often if often[frame] > 1]
        if repeated:
            return min(repeated, key=lambda frame: (frame.file, frame.line))
    return own[-1] if own else None


def spot(frame: Frame) -> str:
    """`tools.py:12 in f`, without the folder, which may differ next time."""
    return f"{PurePath(frame.file).name}:{frame.line} in {frame.function}"


def place_of(raised: Raised) -> str:
    """The location in the tool's own code that raised the exception; empty if unknown."""
    place = decisive_frame(raised)
    return spot(place) if place is not None and place.own else ""


def finding_id(tool: str, kind: FindingKind, signature: str) -> str:
    """A short id for a defect that is the same in every run."""
    return sha256("\0".join((tool, kind, signature)).encode("utf-8", "replace")).hexdigest()[:ID]
