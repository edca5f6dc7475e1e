"""Detects results that report an error."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from misstep.fuzzing.judging.wording import MOST_READ, compiled, load_wording

MOST_PARSED = 100_000  # characters of a text that may be JSON
MOST_OBJECTS = 20  # of a list
MOST_LEAVES = 20  # texts in a JSON reply; one with more is a listing
LONGEST_PREFIX = 300  # characters before an exception's message
SHORT = 600  # characters of a text in which refusing words are about the call


_JOINTS = r":\s+|\s*[(\[](?=\s*[\w'\"<])|\s[-–—]\s"
_FAILING = (
    r"\b(?:fail\w*|errors?|exceptions?|problems?|wrong|unexpected\w*|unable|could(?:n't)?|cannot|can't|sorry|oops"
    r"|trouble|broke|did(?:n't| not) work)\b"
)


def find_error(text: str, flagged: bool) -> str | None:
    """The part of a result that reports an error, or None. `flagged` if the whole result is one."""
    text = text[:MOST_PARSED].strip()
    if flagged:
        return _in_json(text) or text
    if not text:
        return None
    if text[0] == "{" or _parsed(text) is not None:
        return _in_json(text)
    return text if compiled(load_wording().framing.opening, re.IGNORECASE).match(text) else None


def is_echo(text: str, said: Sequence[str]) -> bool:
    """Whether a result looks like an error only because it starts with an argument that does."""
    text = text.strip()
    begins = (
        each for each in said if text.startswith(each.strip()[:MOST_READ]) or each.lstrip().startswith(text)
    )
    return any(find_error(each, flagged=False) is not None for each in begins)


def is_refusal(text: str) -> bool:
    """Whether a result that is not marked as an error says that something was wrong."""
    text = text.strip()
    if text in {"", "None", "null", "[]", "{}", "false", "False", '""', "''"}:
        return True
    return len(text) <= SHORT and compiled(load_wording().framing.refusal).search(text) is not None


def find_caught(text: str) -> Iterator[str]:
    """Possible exception messages in a short reply about a failure, or in the texts of a JSON reply.

    For example, "Something went wrong: KeyError('x')".
    """
    text = text[:MOST_PARSED].strip()
    parsed = _parsed(text)
    leaves = [text] if parsed is None else list(islice(_leaves(parsed), MOST_LEAVES + 1))
    for leaf in leaves if len(leaves) <= MOST_LEAVES else ():
        yield from _caught_in(leaf.strip())


def _caught_in(text: str) -> Iterator[str]:
    """The text after each separator, if the text before the first one reports a failure."""
    if len(text) > SHORT:
        return
    for number, found in enumerate(compiled(_JOINTS).finditer(text[:LONGEST_PREFIX])):
        if not number and not fails_vaguely(text[: found.start()]):
            return
        rest = text[found.end() :].rstrip(" .!")
        yield rest[:-1] if found.group().strip() in ("(", "[") and rest[-1:] in (")", "]") else rest


def fails_vaguely(text: str) -> bool:
    """Whether the text says that something did not work."""
    return compiled(_FAILING, re.IGNORECASE).search(text) is not None


def has_own_words(before: str) -> bool:
    """Whether the text before an exception's message explains what was wrong with the call."""
    words = compiled(r"[^\W\d_]{2,}").findall(before)
    return len(words) > 1 and not fails_vaguely(before)


def _in_json(text: str) -> str | None:
    """The error in JSON such as `{"error": "no such city"}` or `[{"type": "error", "text": …}]`."""
    value = _parsed(text)
    found = (_error_of(each) for each in islice(_objects(value), MOST_OBJECTS))
    return next((each for each in found if each is not None), None)


def _error_of(value: dict[str, object]) -> str | None:
    for key in ("error", "errors", "Error", "exception"):
        if value.get(key):
            return _told_by(value[key])
    failed = value.get("success") is False or value.get("ok") is False or value.get("isError") is True
    failed = failed or str(value.get("status")).lower() in {"error", "failed", "failure"}
    failed = failed or value.get("type") == "error"
    told = value.get("message") or value.get("detail") or value.get("text")
    return _told_by(told or json.dumps(value)) if failed else None


def _objects(value: object) -> Iterator[dict[str, object]]:
    """The JSON object, or the objects of a list, which is how frameworks send the parts of a reply."""
    if isinstance(value, dict):
        yield value
    elif isinstance(value, list):
        yield from (each for each in value if isinstance(each, dict))


def _leaves(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)


def _parsed(text: str) -> object:
    """The text parsed as JSON, if it is an object or a list."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _told_by(value: object) -> str:
    if isinstance(value, dict):
        value = value.get("message") or value.get("detail") or json.dumps(value)
    if isinstance(value, list) and value:
        return _told_by(value[0])
    return value if isinstance(value, str) else json.dumps(value)
