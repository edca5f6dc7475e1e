"""Which defect a reaction shows: the same text for all calls that show the same one."""

from collections import Counter
from hashlib import sha256
from pathlib import PurePath

from misstep.core.results.finding import FindingKind
from misstep.core.tool import Frame, Raised
from misstep.fuzzing.judging.wording import normalise

ID = 10  # hexadecimal digits


def signature_of(raised: Raised) -> str:
    """Its type and the innermost place of the tool's own code; the message only where no place is known."""
    place = decisive_frame(raised)
    if place is None:
        return f"{raised.kind}: {normalise(raised.message)}"
    return f"{raised.kind} at {spot(place)}"


def decisive_frame(raised: Raised) -> Frame | None:
    """The innermost frame of the tool's own code, or of any where there is none of that.

    Where a recursion ends is chance: there it is the first place, in the order of files and lines, of those
    that keep coming back.
    """
    own = [frame for frame in raised.frames if frame.own] or list(raised.frames)
    if raised.kind == "RecursionError":
        often = Counter(own)
        repeated = [frame for frame in often if often[frame] > 1]
        if repeated:
            return min(repeated, key=lambda frame: (frame.file, frame.line))
    return own[-1] if own else None


def spot(frame: Frame) -> str:
    """`tools.py:12 in f`, without the folder, which may be another one next time."""
    return f"{PurePath(frame.file).name}:{frame.line} in {frame.function}"


def place_of(raised: Raised) -> str:
    """The spot in the tool's own code that an exception came from; empty where that is not known."""
    place = decisive_frame(raised)
    return spot(place) if place is not None and place.own else ""


def finding_id(tool: str, kind: FindingKind, signature: str) -> str:
    """A short name for a defect that stays the same from run to run."""
    return sha256("\0".join((tool, kind, signature)).encode("utf-8", "replace")).hexdigest()[:ID]
