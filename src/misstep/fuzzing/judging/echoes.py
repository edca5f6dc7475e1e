"""Makes messages comparable by leaving out what repeats the arguments; one signature means one defect."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache, cached_property
from hashlib import sha256
from itertools import islice, takewhile
from pathlib import PurePath, PurePosixPath
from typing import Any
from urllib.parse import quote

from misstep.core.results.finding import FindingKind
from misstep.core.tool import Frame, Invocation, Raised
from misstep.fuzzing.judging.wording import LONGEST, MOST_READ, load_wording, normalise

MOST_TEXTS = 200
LONG_ENOUGH = 4  # characters of a text that rarely occurs by coincidence
QUOTED = re.compile(r"""(?:'([^']*)'|"([^"]*)")""")


class GivenValues:
    """The arguments of a call."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        self.arguments = arguments

    @classmethod
    def of(cls, invocation: Invocation) -> "GivenValues":
        try:
            arguments = json.loads(invocation.arguments)
        except (ValueError, RecursionError):
            return cls({})
        return cls(arguments if isinstance(arguments, dict) else {})

    @cached_property
    def texts(self) -> list[str]:
        return list(islice((each for each in leaves_of(self.arguments) if isinstance(each, str)), MOST_TEXTS))

    def has(self, words: str) -> bool:
        """Whether a name in a message comes from the arguments."""
        words = words.strip()
        return bool(words) and any(
            words == each.strip()
            or (len(words) >= LONG_ENOUGH and words in each)
            or (len(each) >= LONG_ENOUGH and each in words)
            for each in self.texts
        )

    def has_path(self, path: str) -> bool:
        """Whether a path in a message comes from the arguments, for example because it ends with one."""
        if self.has(path):
            return True
        parts = {*PurePosixPath(path).parts} - {"/", ".", ".."}
        return any(parts & {*PurePosixPath(each.strip()).parts} for each in self.texts if each.strip())

    def are_quoted_in(self, message: str) -> bool:
        """Whether something quoted in the message comes from the arguments."""
        quoted = [one or other for one, other in QUOTED.findall(message)]
        return any(each in self.texts or (each and self.has_path(each)) for each in quoted)


def leaves_of(value: Any, keys: bool = True) -> Iterator[Any]:
    """All scalars in a JSON value, and the keys of its objects unless they are not wanted."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting.extend(each.values())
            yield from each if keys else ()
        elif isinstance(each, list):
            waiting.extend(each)
        else:
            yield each


MOST_PIECES = 400
SHORTEST_WORD = 3  # letters of a word; shorter ones occur in any message
LONG = 24  # characters that don't occur by coincidence
LONGEST_TEXT = 10_000  # characters of an argument that are searched for words

_WORD = re.compile(rf"\w{{{SHORTEST_WORD},}}")
_PLACEHOLDERS = re.compile(r"""['"`(\[{]*(?:…|\#|<[a-z]+>)(?:[^\w…#<]*(?:…|\#|<[a-z]+>))*['"`)\]}]*""")
_NOTHING_ELSE = re.compile(r"\A[\W_]*…[\W_]*\Z|…[\W_]*\Z|\A[\W_]+\Z")  # only punctuation around arguments


def normalise_for(message: str, given: GivenValues) -> str:
    """The message with `…` for everything that varies between calls or repeats the arguments."""
    message = _without_beginnings(message[:MOST_READ], given)
    lower = message.casefold()
    pieces = {piece for piece in _pieces(given) if piece.casefold() in lower}
    if pieces:
        alternatives = "|".join(map(_alone, sorted(pieces, key=lambda piece: (-len(piece), piece))))
        message = re.sub(alternatives, "…", message, flags=re.IGNORECASE)
    plain = _PLACEHOLDERS.sub("…", normalise(message))
    return _NOTHING_ELSE.sub("…", plain)[:LONGEST]


def _without_beginnings(message: str, given: GivenValues) -> str:
    """The message without long arguments, which it may have truncated."""
    for value in islice(_values(given.arguments), MOST_PIECES):
        for text in _whole(value) if isinstance(value, str) and len(value) >= LONG else ():
            start = message.find(text[:LONG]) if len(text) >= LONG else -1  # stripped, it may be shorter
            if start >= 0:
                pairs = zip(message[start:], text, strict=False)
                shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
                message = f"{message[:start]}…{message[start + shared :]}"
    return message


def _alone(piece: str) -> str:
    """A pattern for the piece as a whole word."""
    before = r"(?<!\w)" if re.match(r"\w", piece) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", piece) else ""
    return f"{before}{re.escape(piece)}{after}"


def _pieces(given: GivenValues) -> Iterator[str]:
    """Texts, numbers and words of the arguments as messages spell them, without common words of errors."""
    pieces = (piece for value in _values(given.arguments) for piece in _spellings(value))
    known = _words_of_errors()
    return islice((piece for piece in pieces if piece.casefold() not in known), MOST_PIECES)


def _spellings(value: str | float) -> Iterator[str]:
    if not isinstance(value, str):
        yield from {str(value), json.dumps(value)}
        return
    yield from (each for each in _whole(value) if re.search(r"\w", each) or len(each) >= SHORTEST_WORD)
    plain = value[:LONGEST_TEXT]
    yield from dict.fromkeys(part for part in re.split(r"[/\\]", plain) if re.search(r"\w", part))
    yield from dict.fromkeys(_WORD.findall(plain))


def _whole(text: str) -> list[str]:
    """The whole text, plain and in the notations of several languages."""
    text = text[:LONGEST_TEXT]
    plain = text.strip()
    spelt = [json.dumps(plain, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)]
    return [*dict.fromkeys([text, plain, repr(plain)[1:-1], *spelt, quote(plain, errors="replace")])]


def _values(value: Any) -> Iterator[str | float]:
    """The texts and numbers in arguments, and nested keys, but not the names of parameters."""
    waiting = list(value.values())
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, dict):
            yield from each
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
        elif each is not None and not isinstance(each, bool):
            yield each


@cache
def _words_of_errors() -> frozenset[str]:
    wording = load_wording()
    rules = (*wording.validation, *wording.output, *wording.environment, *wording.crash, *wording.bare)
    texts = [text for rule in rules for text in (*rule.has, rule.match)]
    words = (word for text in texts for word in _WORD.findall(re.sub(r"\\[a-zA-Z]", " ", text)))
    return frozenset(map(str.casefold, words))


def signature_of(raised: Raised) -> str:
    """The exception's type and location in the tool's own code, or its message if that is unknown."""
    place = decisive_frame(raised)
    return f"{raised.kind} at {spot(place)}" if place else f"{raised.kind}: {normalise(raised.message)}"


def decisive_frame(raised: Raised) -> Frame | None:
    """The innermost frame of the tool's own code, or of any code if there is none.

    Where a recursion ends is arbitrary, so for recursion errors it is the first of the repeated frames,
    ordered by file and line.
    """
    own = [frame for frame in raised.frames if frame.own] or raised.frames
    if raised.kind == "RecursionError":
        repeated = [frame for frame, times in Counter(own).items() if times > 1]
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
    return sha256("\0".join((tool, kind, signature)).encode("utf-8", "replace")).hexdigest()[:10]
