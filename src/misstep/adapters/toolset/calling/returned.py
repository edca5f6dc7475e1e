"""What a tool gives back, as an agent would get to see it."""

import itertools
import json
from collections.abc import Iterator
from types import GeneratorType
from typing import Any

import msgspec

from misstep.core.words import in_words

MOST = 4_000  # characters of a result that are kept
COUNTED = 1_000_000  # characters up to which a result that is no text is written, in order to count them
MOST_ITEMS = 1_000  # that are asked of something that may give them without end
LARGEST = 1_000_000  # characters of a structured result
DEEPEST = 50  # levels of objects that are no JSON by themselves


class Returned(msgspec.Struct, frozen=True, omit_defaults=True):
    """The text that the agent gets, cut, with `size` characters in all as far as they were counted.

    `structured` is JSON, where the tool says what its results look like. `flagged` if the framework or the
    server says that this is an error.
    """

    text: str
    size: int
    structured: str | None = None
    flagged: bool = False


def told(value: Any, structured: str | None = None, flagged: bool = False) -> Returned:
    """The value in words, whatever it is."""
    if type(value) is str:
        return Returned(value[:MOST], len(value), structured, flagged)
    text, size = _written(value)
    return Returned(text, size, structured, flagged)


def structure(value: Any) -> str | None:
    """The value as JSON; None where it has none, or far too much of it."""
    if isinstance(value, str) and len(value) > LARGEST:
        return None
    try:
        text = json.dumps(_plain(value, 0), ensure_ascii=True, allow_nan=False)
    except Exception:  # of the tool's own objects too
        return None
    return text if len(text) <= LARGEST else None


def spent(value: Any) -> Any:
    """The value, or a list of what comes first out of a generator, whose code runs no sooner than that."""
    return list(itertools.islice(value, MOST_ITEMS)) if isinstance(value, GeneratorType) else value


def _written(value: Any) -> tuple[str, int]:
    if isinstance(value, str):
        text = in_words(value)
        return text[:MOST], len(text)
    if isinstance(value, bytes | bytearray | memoryview):
        return in_words(bytes(value[:MOST]))[:MOST], len(value)
    if isinstance(value, dict | list | tuple):
        try:
            return _counted(_pieces(value))
        except Exception:  # it is no JSON, or its parts have ideas of their own
            pass
    text = in_words(value)
    return text[:MOST], len(text)


def _pieces(value: Any) -> Iterator[str]:
    return json.JSONEncoder(ensure_ascii=False, default=in_words).iterencode(value)


def _counted(pieces: Iterator[str]) -> tuple[str, int]:
    """The beginning of a text that comes in pieces, and how long it is, as far as anybody wants to know."""
    kept, size = list[str](), 0
    for piece in pieces:
        if size < MOST:
            kept.append(piece[: MOST - size])
        size += len(piece)
        if size > COUNTED:
            break
    return "".join(kept), size


def _plain(value: Any, deep: int) -> Any:
    """The value made of what JSON has: models and classes with fields become objects."""
    if value is None or isinstance(value, str | int | float | bool) or deep > DEEPEST:
        return value
    if isinstance(value, dict):
        return {str(key): _plain(each, deep + 1) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(each, deep + 1) for each in value]
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json")
    return msgspec.to_builtins(value)
