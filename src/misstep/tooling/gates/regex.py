"""Texts that match a regular expression, made from how Python reads it."""

import re
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from misstep.schemas.patterns import matches

FLAGS = int(re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.ASCII)
LONGEST = 300  # characters of an example
_ANY = [chr(code) for code in (97, 49, 95, 32, 45, 65, 233, *range(33, 127))]

# Which repeats, which branch, and whether characters are chosen as plain or as odd as the pattern allows.
Choice = tuple[int, int, bool]
PLAIN: Choice = (1, 0, False)
_CHOICES: tuple[Choice, ...] = (
    PLAIN,
    (0, 0, False),
    (1, 1, False),
    (1, 2, False),
    (3, 0, False),
    (1, 0, True),
    (40, 0, False),
)

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
    """The pattern, or None where it is none. What others should know about theirs is not said here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(pattern, flags & FLAGS)
        except (re.error, OverflowError, RecursionError, ValueError, TypeError):
            return None


def example(pattern: str, flags: int = 0) -> str | None:
    """A text in which the pattern is found, the same each time."""
    found = examples(pattern, flags)
    return found[0] if found else None


def examples(pattern: str, flags: int = 0) -> list[str]:
    """Texts in which the pattern is found, the plainest first, each checked where that can be done soon."""
    parsed = _parsed(pattern, flags)
    made = [_written(parsed, choice) for choice in _CHOICES] if parsed is not None else []
    return [text for text in dict.fromkeys(made) if text is not None and _is_found(pattern, flags, text)]


def beginnings(pattern: str, flags: int = 0) -> list[str]:
    """Texts that match up to the last part of the pattern and end there."""
    parsed = _parsed(pattern, flags)
    if parsed is None:
        return []
    parts = [part for part in parsed if str(part[0]) != "AT"]
    texts = [_written(parts[:-1], PLAIN), _written(parts[:1], PLAIN)]
    return [text for text in dict.fromkeys(texts) if text]


def _parsed(pattern: str, flags: int) -> Sequence[Any] | None:
    parser = getattr(re, "_parser", None)  # not promised by anybody: without it there are no examples
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(parser.parse(pattern, flags & FLAGS)) if parser else None
    except (re.error, OverflowError, RecursionError, ValueError):
        return None


def is_quick(pattern: str, text: str) -> bool:
    """Whether it can't take long to hold the text against the pattern."""
    return matches(pattern, text) is not None


def _is_found(pattern: str, flags: int, text: str) -> bool:
    ready = compiled(pattern, flags) if is_quick(pattern, text) else None
    return ready is not None and ready.search(text) is not None


def _written(parts: Sequence[Any], choice: Choice) -> str | None:
    writer = _Writer(choice)
    try:
        return writer.all(parts)[:LONGEST]
    except (KeyError, ValueError, TypeError, IndexError, RecursionError):
        return None


class _Writer:
    """Writes one text for a parsed pattern."""

    def __init__(self, choice: Choice) -> None:
        self._repeats, self._branch, self._odd = choice
        self._groups: dict[int, str] = {}

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
                least, most, inner = argument
                return self.all(inner) * max(int(least), min(int(most), self._repeats))
            case "SUBPATTERN":
                return self._group(argument[0], argument[-1])
            case "BRANCH":
                return self.all(argument[1][self._branch % len(argument[1])])
            case "GROUPREF":
                return self._groups.get(argument, "")
            case "ATOMIC_GROUP":
                return self.all(argument)
            case "GROUPREF_EXISTS":
                return self.all(argument[1])
        return ""  # places and what stands around, which are checked in the end

    def _group(self, number: int | None, parts: Sequence[Any]) -> str:
        text = self.all(parts)
        if number is not None:
            self._groups[number] = text
        return text

    def _out_of(self, members: Sequence[Any]) -> str:
        """A character of a set: the first that is named, or the last one that an odd text would have."""
        if str(members[0][0]) == "NEGATE":
            return next(character for character in _ANY if not _is_in(members[1:], character))
        name, argument = members[-1 if self._odd else 0]
        match str(name):
            case "RANGE":
                return chr(argument[1] if self._odd else argument[0])
            case "CATEGORY":
                return _CATEGORIES[str(argument)][self._odd]
        return chr(argument)


def _is_in(members: Sequence[Any], character: str) -> bool:
    code = ord(character)
    tests: dict[str, Callable[[Any], bool]] = {
        "LITERAL": lambda argument: bool(code == argument),
        "RANGE": lambda argument: bool(argument[0] <= code <= argument[1]),
        "CATEGORY": lambda argument: _is_of(str(argument), character),
    }
    return any([tests[str(name)](argument) for name, argument in members])


def _is_of(category: str, character: str) -> bool:
    kind = category.removeprefix("CATEGORY_").removeprefix("NOT_")
    inside = {
        "DIGIT": character.isdecimal(),
        "SPACE": character.isspace(),
        "WORD": character.isalnum() or character == "_",
    }[kind]
    return inside != ("NOT_" in category)
