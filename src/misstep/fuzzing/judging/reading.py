"""Classifies the text of an error message: refused arguments, environment, crash and so on."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

import msgspec

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
    whole, core = text[:MOST_READ].strip(), _without_wrappers(text[:MOST_READ].strip())
    said = [each for each in said if each]
    if _is_one_of(wording.framing.silent, whole):
        return ErrorReading("crash", whole, "hidden exception")
    message, kind = core, ""
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
    return next(
        (rule for rule, words in _matching(rules, text, from_start) if not _repeated(words, said)), None
    )


@lru_cache(maxsize=1024)  # tools repeat their messages
def _matching(rules: tuple[WordingRule, ...], text: str, from_start: bool) -> list[tuple[WordingRule, str]]:
    lower = text.lower()
    found = ((rule, _found(rule, text, lower, from_start)) for rule in rules)
    return [(rule, words) for rule, words in found if words]


def _found(rule: WordingRule, text: str, lower: str, from_start: bool) -> str:
    """The words of a rule that occur in the text."""
    for words in rule.has:
        if text.startswith(words) if from_start else words in text:
            return words
    if not rule.match or (rule.hints and not any(hint in lower for hint in rule.hints)):
        return ""
    pattern = compiled(rule.match)
    found = pattern.match(text) if from_start else pattern.search(text)
    return "" if found is None else found.group().strip()


def _repeated(words: str, said: Sequence[str]) -> bool:
    return any(words in each for each in said) if words else False


def _says_nothing(message: str, said: Sequence[str]) -> bool:
    """Whether a message is empty, repeats an argument, or is a path that ends with one."""
    plain = message.strip("'\"` \n.:")
    for each in said:
        given = each.strip("'\"` \n.:")
        if plain == given or (given and plain.startswith("/") and plain.endswith(f"/{given.lstrip('/')}")):
            return True
    return not plain


def _without_wrappers(text: str) -> str:
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


def _is_one_of(patterns: Sequence[str], text: str) -> bool:
    return any(compiled(each).search(text) for each in patterns)
