"""Generates texts that match a regular expression, from Python's own parse of it."""

import re
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import cycle
from typing import Any, NamedTuple

from misstep.schemas.formats import matches

FLAGS = int(re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.ASCII)
LONGEST = 9_000  # characters of an example
OFTEN = 40
VERY_OFTEN = 3_000  # more than Python's recursion limit
_ANY = [chr(code) for code in (97, 49, 95, 32, 45, 65, 233, *range(33, 127))]


class RegexChoice(NamedTuple):
    """How to generate a text: counts for repetitions in turn, which branch, plain or unusual characters.

    All of it as far as the pattern allows.
    """

    repeats: tuple[int, ...] = (1,)
    branch: int = 0
    odd: bool = False


PLAIN = RegexChoice()
_CHOICES = (
    PLAIN, RegexChoice((0,)), RegexChoice(branch=1), RegexChoice(branch=2), RegexChoice((3,)),
    RegexChoice(odd=True), *(RegexChoice((times,)) for times in (OFTEN, VERY_OFTEN)),
    RegexChoice((VERY_OFTEN,), odd=True),
)  # fmt: skip
# Alternate between shortest and longest, for patterns with several repeated parts.
_UNEVEN = [RegexChoice(repeats, odd=odd) for repeats in ((0, OFTEN), (OFTEN, 0)) for odd in (True, False)]

_CATEGORIES = {
    "CATEGORY_DIGIT": ("1", "\u0663"),
    "CATEGORY_NOT_DIGIT": ("a", "\u00b2"),
    "CATEGORY_SPACE": (" ", "\u2003"),
    "CATEGORY_NOT_SPACE": ("a", "\u00e9"),
    "CATEGORY_WORD": ("a", "\u00df"),
    "CATEGORY_NOT_WORD": ("-", "\u00a0"),
}


@lru_cache(maxsize=512)
def compiled(pattern: str, flags: int) -> re.Pattern[str] | None:
    """The compiled pattern, or None if it is invalid. Warnings about it are suppressed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(pattern, flags & FLAGS)
        except (re.error, OverflowError, RecursionError, ValueError, TypeError):
            return None


def example(pattern: str, flags: int = 0) -> str | None:
    """A text that contains a match; deterministic."""
    return next(_found(pattern, flags), None)


def examples(pattern: str, flags: int = 0) -> list[str]:
    """Texts that contain a match, the plainest first, each verified if that is fast enough."""
    return list(dict.fromkeys(_found(pattern, flags)))


def _found(pattern: str, flags: int) -> Iterator[str]:
    parts = _parsed(pattern, flags) or ()
    for choice in (*_CHOICES, *_UNEVEN) if _count_repeats(parts) > 1 else _CHOICES:
        text = _written(parts, choice)
        ready = compiled(pattern, flags) if text is not None and is_quick(pattern, text) else None
        if text is not None and ready is not None and ready.search(text):
            yield text


def beginnings(pattern: str, flags: int = 0) -> list[str]:
    """Texts that match all but the last part of the pattern."""
    parsed = _parsed(pattern, flags)
    if parsed is None:
        return []
    parts = [part for part in parsed if str(part[0]) != "AT"]
    texts = [_written(parts[:-1], PLAIN), _written(parts[:1], PLAIN)]
    return [text for text in dict.fromkeys(texts) if text]


def _parsed(pattern: str, flags: int) -> Sequence[Any] | None:
    parser = getattr(re, "_parser", None)  # a private module: without it there are no examples
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(parser.parse(pattern, flags & FLAGS)) if parser else None
    except (re.error, OverflowError, RecursionError, ValueError):
        return None


def is_quick(pattern: str, text: str) -> bool:
    """Whether matching this text cannot take long."""
    return matches(pattern, text) is not None


def _count_repeats(parts: Sequence[Any]) -> int:
    """The number of parts that may be repeated; nested ones don't count."""
    count = 0
    for name, argument in parts:
        match str(name):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                count += argument[0] != argument[1]
            case "SUBPATTERN":
                count += _count_repeats(argument[-1])
            case "ATOMIC_GROUP":
                count += _count_repeats(argument)
    return count


def _written(parts: Sequence[Any], choice: RegexChoice) -> str | None:
    try:
        return _Writer(choice).all(parts)[:LONGEST]
    except (KeyError, ValueError, TypeError, IndexError, RecursionError):
        return None


class _Writer:
    """Generates one text for a parsed pattern."""

    def __init__(self, choice: RegexChoice) -> None:
        self._branch, self._odd = choice.branch, choice.odd
        self._repeats = cycle(choice.repeats)
        self._within = 0  # nesting of repeated parts
        self._groups: dict[int | None, str] = {}

    def all(self, parts: Sequence[Any]) -> str:
        return "".join(self._one(str(name), argument) for name, argument in parts)

    def _one(self, name: str, argument: Any) -> str:
        match name:
            case "LITERAL":
                return chr(argument)
            case "NOT_LITERAL":
                return next(character for character in _ANY if ord(character) != argument)
            case "ANY":
                return "\u00e9" if self._odd else "a"
            case "IN":
                return self._out_of(argument)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                return self._repeated(*argument)
            case "SUBPATTERN":
                text = self._groups[argument[0]] = self.all(argument[-1])
                return text
            case "BRANCH":
                return self.all(argument[1][self._branch % len(argument[1])])
            case "GROUPREF":
                return self._groups.get(argument, "")
            case "ATOMIC_GROUP":
                return self.all(argument)
            case "GROUPREF_EXISTS":
                return self.all(argument[1])
        return ""  # anchors and lookarounds, which are verified at the end

    def _repeated(self, least: int, most: int, parts: Sequence[Any]) -> str:
        """Repeat as often as chosen, less often if the text would become too long."""
        wanted = next(self._repeats) if least != most else 0
        if self._within and wanted > OFTEN:
            wanted = 1
        self._within += 1
        text = self.all(parts)
        self._within -= 1
        times = max(int(least), min(int(most), wanted, LONGEST // max(1, len(text))))
        if len(text) * times > LONGEST:
            raise ValueError
        return text * times

    def _out_of(self, members: Sequence[Any]) -> str:
        """A character of a set: the first one named, or the last one for an unusual text."""
        if str(members[0][0]) == "NEGATE":
            others = [(str(name), argument) for name, argument in members[1:]]
            return next(each for each in _ANY if not any([_is_like(*other, each) for other in others]))
        name, argument = members[-1 if self._odd else 0]
        match str(name):
            case "RANGE":
                return chr(argument[1] if self._odd else argument[0])
            case "CATEGORY":
                return _CATEGORIES[str(argument)][self._odd]
        return chr(argument)


def _is_like(name: str, argument: Any, character: str) -> bool:
    match name:
        case "LITERAL":
            return bool(ord(character) == argument)
        case "RANGE":
            return bool(argument[0] <= ord(character) <= argument[1])
    category = str(argument)
    inside = {
        "DIGIT": character.isdecimal(),
        "SPACE": character.isspace(),
        "WORD": character.isalnum() or character == "_",
    }[category.removeprefix("CATEGORY_").removeprefix("NOT_")]
    return inside != ("NOT_" in category)
