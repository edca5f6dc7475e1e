"""Finds the error that a result reports, and says what sort it is: refusal, environment, crash and so on."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Literal, TypeAlias

import msgspec

from misstep.fuzzing.judging.echoes import leaves_of
from misstep.fuzzing.judging.wording import MOST_READ, WordingRule, compiled, load_wording

Sort: TypeAlias = Literal["validation", "output", "environment", "crash", "refused"]


class ErrorReading(msgspec.Struct, frozen=True):
    """What a message says: its sort, the error it names, and its text without wrappers.

    `layer` if the words are those of a validation layer in front of the tool. `why` is the cause in the
    environment.
    """

    sort: Sort
    message: str
    error: str = ""
    why: str = ""
    layer: bool = False


def read_error(text: str, bare: bool, said: Sequence[str]) -> ErrorReading:
    """Classify an error message. `bare` if it may be just the message of an exception."""
    wording = load_wording()
    whole, core = text[:MOST_READ].strip(), without_wrappers(text[:MOST_READ].strip())
    said = [each for each in said if each]
    if any(compiled(each).search(whole) for each in wording.framing.silent):
        return ErrorReading("crash", whole, "hidden exception")
    message = core
    if "Traceback (most recent call last)" in core and not _repeated("Traceback (most recent", said):
        message = _last_line(core)
        if _was_raised_on_purpose(core):
            return ErrorReading("refused", message)
    kind, rest = _split_type(message)
    message = f"{kind}: {rest}" if kind else message
    if rule := _first(wording.output, whole, said):
        return ErrorReading("output", core, "output", rule.why)
    if rule := _first(wording.validation, whole, said):
        return ErrorReading("validation", core, "refused arguments", rule.why, rule.layer)
    if rule := _first(wording.environment, message, said):
        return ErrorReading("environment", message, kind, rule.why)
    if rule := _first(wording.crash, message, said):
        return ErrorReading("crash", message, kind or rule.error)
    if kind in wording.types.crash and not _repeated(kind, said):
        return ErrorReading("crash", message, kind)
    is_bare = bare or bool(kind) or core != whole
    if is_bare and (rule := _first(wording.bare, rest, said, from_start=True)):
        return ErrorReading("crash", message, kind or rule.error)
    if is_bare and _says_nothing(rest, said):
        return ErrorReading("crash", message, kind or "exception without words")
    return ErrorReading("refused", message)


def mentions(texts: Sequence[str], message: str) -> bool:
    return any(text in message for text in texts)


def find_trouble(message: str, said: Sequence[str]) -> str:
    """What in the environment caused the message; empty if nothing did."""
    rule = _first(load_wording().environment, message[:MOST_READ], said)
    return "" if rule is None else rule.why


def _first(
    rules: tuple[WordingRule, ...], text: str, said: Sequence[str], from_start: bool = False
) -> WordingRule | None:
    """The first rule whose words are in the text but not in the arguments."""
    found = _matching(rules, text, from_start)
    return next((rule for rule, words in found if not _repeated(words, said)), None)


@lru_cache(maxsize=1024)  # tools repeat their messages
def _matching(rules: tuple[WordingRule, ...], text: str, from_start: bool) -> list[tuple[WordingRule, str]]:
    lower = text.lower()
    found = ((rule, _found(rule, text, lower, from_start)) for rule in rules)
    return [(rule, words) for rule, words in found if words]


def _found(rule: WordingRule, text: str, lower: str, from_start: bool) -> str:
    if not from_start:
        words = next((words for words in rule.has if words in text), "")
    elif rule.has and text.startswith(rule.has):
        words = next(words for words in rule.has if text.startswith(words))
    else:
        words = ""
    if words:
        return words
    if not rule.match or (rule.hints and not any(hint in lower for hint in rule.hints)):
        return ""
    pattern = compiled(rule.match)
    found = pattern.match(text) if from_start else pattern.search(text)
    return "" if found is None else found.group().strip()


def _repeated(words: str, said: Sequence[str]) -> bool:
    return bool(words) and any(words in each for each in said)


def _says_nothing(message: str, said: Sequence[str]) -> bool:
    """Whether a message is empty, repeats an argument, or is a path that ends with one."""
    plain = message.strip("'\"` \n.:")
    for each in said:
        given = each.strip("'\"` \n.:")
        if plain == given or (given and plain.startswith("/") and plain.endswith(f"/{given.lstrip('/')}")):
            return True
    return not plain


def without_wrappers(text: str) -> str:
    """The text without what frameworks put before the message of an exception."""
    for _ in range(4):
        before = text
        for wrapper in load_wording().framing.wrappers:
            text = compiled(wrapper).sub("", text, count=1)
        if text == before:
            break
    return text


def _split_type(message: str) -> tuple[str, str]:
    """Split `ValueError: no` and `ValueError('no')` into type and message."""
    found = compiled(r"(?:[\w$]+\.)*([A-Z]\w*(?:Error|Exception))(?:: |\(|$)\s*").match(message)
    if found is None:
        return "", message
    kind, rest = found.group(1), message[found.end() :]
    if not found.group().endswith("("):
        return kind, rest
    rest = rest.rstrip().removesuffix(")").removesuffix(",")
    is_text = kind != "KeyError" and len(rest) > 1 and rest[0] in "'\"" and rest[0] == rest[-1]
    return kind, rest[1:-1] if is_text else rest


def _last_line(traceback: str) -> str:
    """The line of a Python traceback that names the exception."""
    lines = [line for line in traceback.splitlines() if line and not line[0].isspace()]
    return next((line for line in reversed(lines) if _split_type(line)[0]), lines[-1])


def _was_raised_on_purpose(traceback: str) -> bool:
    """Whether the innermost line of code is a `raise` with a message outside of libraries."""
    lines = traceback.splitlines()
    places = [number for number, line in enumerate(lines) if line.lstrip().startswith('File "')]
    if not places or places[-1] + 1 >= len(lines):
        return False
    library = re.search(r"site-packages|dist-packages|/lib/python\d", lines[places[-1]])
    return library is None and re.match(r"\s*raise \w[\w.]*\(.*\w", lines[places[-1] + 1]) is not None


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
    is_told = compiled(load_wording().framing.opening, re.IGNORECASE).match(text)
    return text if is_told or _is_only_an_exception(text) else None


def _is_only_an_exception(text: str) -> bool:
    """Whether a result consists of words that no tool says on purpose, and of nothing else."""
    crashes = load_wording().crash
    return len(text) <= SHORT and any(words == text for _, words in _matching(crashes, text, True))


def is_echo(text: str, said: Sequence[str]) -> bool:
    """Whether a result looks like an error only because it starts with an argument that does."""
    text = text.strip()
    return any(
        find_error(each, flagged=False) is not None
        for each in said
        if text.startswith(each.strip()[:MOST_READ]) or each.lstrip().startswith(text)
    )


def is_refusal(text: str) -> bool:
    """Whether a result that is not marked as an error says that something was wrong."""
    text = text.strip()
    if text in {"", "None", "null", "[]", "{}", "false", "False", '""', "''"}:
        return True
    return len(text) <= SHORT and compiled(load_wording().framing.refusal).search(text) is not None


def find_caught(text: str) -> Iterator[str]:
    """Possible exception messages in a short reply, as in "It went wrong: KeyError('x')", or in its JSON."""
    text = text[:MOST_PARSED].strip()
    parsed = _parsed(text)
    leaves = [text]
    if parsed is not None:
        texts = (each for each in leaves_of(parsed, keys=False) if isinstance(each, str))
        leaves = list(islice(texts, MOST_LEAVES + 1))
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
    return compiled(_FAILING, re.IGNORECASE).search(text) is not None


def has_own_words(before: str) -> bool:
    """Whether the text before an exception's message explains what was wrong with the call."""
    words = compiled(r"[^\W\d_]{2,}").findall(before)
    return len(words) > 1 and not fails_vaguely(before)


def _in_json(text: str) -> str | None:
    """The error in JSON such as `{"error": "no such city"}` or `[{"type": "error", "text": …}]`.

    A list is how frameworks send the parts of a reply.
    """
    value = _parsed(text)
    parts = value if isinstance(value, list) else [value]
    objects = islice((each for each in parts if isinstance(each, dict)), MOST_OBJECTS)
    return next((error for each in objects if (error := _error_of(each)) is not None), None)


def _error_of(value: dict[str, object]) -> str | None:
    for key in ("error", "errors", "Error", "exception"):
        if isinstance(told := value.get(key), str | dict | list) and told:  # a number may count errors
            return _told_by(told)
    failed = (
        value.get("error") is True
        or value.get("success") is False
        or value.get("ok") is False
        or value.get("isError") is True
    )
    has_bad_status = str(value.get("status")).lower() in {"error", "failed", "failure"}
    failed = failed or has_bad_status or value.get("type") == "error"
    told = value.get("message") or value.get("detail") or value.get("text")
    return _told_by(told or json.dumps(value)) if failed else None


def _parsed(text: str) -> object:
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
