"""Loads the phrases that languages, libraries and servers use for errors, and normalises messages."""

import re
import tomllib
from functools import cache
from importlib.resources import files

import msgspec

from misstep.core.text import cut


class WordingRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Phrases to look for, and what finding them means.

    If there are `hints`, one of them occurs (in lower case) in every text that `match` matches.
    """

    has: tuple[str, ...] = ()
    match: str = ""
    hints: tuple[str, ...] = ()
    error: str = ""
    why: str = ""
    layer: bool = False


class Framing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    wrappers: tuple[str, ...]
    silent: tuple[str, ...]
    opening: str
    refusal: str


class Beyond(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    own_words: tuple[str, ...]
    unknown_names: tuple[str, ...]
    unknown_tool: str


class Suspicion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    certain: str
    likely: str
    vague: str
    refusing: str
    types: frozenset[str]


class Runners(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    names: str
    parameters: tuple[str, ...]


class ErrorTypes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    crash: frozenset[str]
    memory: tuple[str, ...]
    exits: frozenset[str]
    validation: frozenset[str]
    environment: frozenset[str]
    input: frozenset[str]
    reading: frozenset[str]
    general: frozenset[str]


class Errno(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sandbox: frozenset[int]
    network: frozenset[int]
    missing: int


class ErrorWording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All known phrases, as loaded from wording.toml."""

    framing: Framing
    suspicion: Suspicion
    runners: Runners
    validation: tuple[WordingRule, ...]
    beyond: Beyond
    output: tuple[WordingRule, ...]
    environment: tuple[WordingRule, ...]
    crash: tuple[WordingRule, ...]
    bare: tuple[WordingRule, ...]
    types: ErrorTypes
    errno: Errno
    reasons: dict[str, str]


@cache
def load_wording() -> ErrorWording:
    text = (files("misstep.fuzzing.judging") / "data" / "wording.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), ErrorWording)


@cache
def compiled(text: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(text, flags)


MOST_READ = 2_000  # characters of a message; errors say what matters at the start
LONGEST = 200  # characters of a normalised message
SHOWN = 300  # characters of a message in a reason

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
    """The message without what varies between calls: numbers, quotations, paths, dates, long words."""
    plain = _CHANGING.sub(
        lambda found: _STANDS_FOR.get(str(found.lastgroup), f"<{found.lastgroup}>"), text[:MOST_READ]
    )
    return " ".join(plain.split())[:LONGEST]


def in_short(text: str) -> str:
    """The message on one line, truncated, for use in a sentence."""
    return cut(" ".join(text.split()), SHOWN)
