"""Which defect a reaction shows: the same text for all calls that show the same one."""

import re
from collections import Counter
from hashlib import sha256
from pathlib import PurePath

from misstep.core.finding import FindingKind
from misstep.core.tool import Frame, Raised

ID = 10  # hexadecimal digits
LONGEST = 200  # characters of a normalised message
MOST_READ = 2_000

_CHANGING = re.compile(
    r"""
    (?P<uuid> \b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b )
  | (?P<date> \b\d{4}-\d{2}-\d{2}(?:[T\ ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?\b )
  | (?P<quoted> (?<!\w)(?P<mark>["'`]).*?(?<!\\)(?P=mark)(?!\w) )
  | (?P<url> \b[a-z][a-z0-9+.-]*://\S+ )
  | (?P<path> (?<!\w)(?:~|\.{1,2})?/[^\s:,;)'"]+ | \b[A-Za-z]:\\[^\s:,;)]+ )
  | (?P<hex> \b0x[0-9a-fA-F]+\b | \b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}\b )
  | (?P<number> (?<![A-Za-z])[-+]?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?\b )
  | (?P<word> \S{24,} )
    """,
    re.VERBOSE | re.DOTALL,
)
_STANDS_FOR = {"quoted": "'…'", "number": "#", "word": "…"}


def normalise(text: str) -> str:
    """A message without what changes from call to call: numbers, quotations, paths, dates, long words."""
    plain = _CHANGING.sub(_placeholder, text[:MOST_READ])
    return " ".join(plain.split())[:LONGEST]


def _placeholder(found: re.Match[str]) -> str:
    kind = next(name for name, part in found.groupdict().items() if part is not None and name != "mark")
    return _STANDS_FOR.get(kind, f"<{kind}>")


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


def finding_id(tool: str, kind: FindingKind, signature: str) -> str:
    """A short name for a defect that stays the same from run to run."""
    return sha256("\0".join((tool, kind, signature)).encode("utf-8", "replace")).hexdigest()[:ID]
