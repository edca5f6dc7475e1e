"""Makes messages plain: without what changes from call to call, or in short."""

import re

from misstep.core.words import cut

MOST_READ = 2_000  # characters of a message; what an error has to say it says in fewer
LONGEST = 200  # characters of a normalised message
SHOWN = 300  # characters of a message within a reason

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


def in_short(text: str) -> str:
    """A message as it is told within a sentence: on one line, and not at length."""
    return cut(" ".join(text.split()), SHOWN)
