"""Detects refusals that point to a bug in the tool instead of a problem with the call."""

import re
from functools import lru_cache

from misstep.core.tool import Described
from misstep.fuzzing.judging.echoes import GivenValues
from misstep.fuzzing.judging.wording import MOST_READ, compiled, load_wording

SHORTEST = 3  # letters of a meaningful word
STEM = 5  # letters that related words share
MOST_WORDS = 600  # of the documentation
_WORD = re.compile(rf"[^\W\d_]{{{SHORTEST},}}")
_EMPTY = re.compile(
    r"(?:the|and|for|not|with|from|that|this|are|was|were|has|have|can|could|will|would|errors?|failed|failure"
    r"|exception|values?|none|null|true|false|unexpected|internal|while|during)\Z"
)


def find_suspicion(described: Described, message: str, given: GivenValues, error: str = "") -> str:
    """Why a refusal of valid arguments is suspicious, as the end of a sentence; empty if it is not.

    `error` is the exception type, if known. Words from the call or from the tool's documentation don't count
    as internals.
    """
    words, text = load_wording().suspicion, message[:MOST_READ]
    about = _documentation(described)
    if found := _said_by_tool(words.certain, text, about, given):
        return f"its words are about the inside of the tool ({found})"
    if compiled(words.vague).match(text) and not names_call(described, text, given):
        return "its words say nothing about the call"
    related = names_call(described, text, given) or _is_related(text, about)
    if not related and (found := _said_by_tool(words.likely, text, about, given)):
        return f"its words are about the inside of the tool ({found})"
    if error in words.types and not related and not compiled(words.refusing).search(text):
        return f"{error} names no argument, and its words have nothing to do with what the tool is for"
    return ""


def _said_by_tool(pattern: str, text: str, about: str, given: GivenValues) -> str:
    """The first match that is the tool's own wording."""
    for found in compiled(pattern).finditer(text):
        words = found.group().strip()
        plain, content = words.casefold(), _content(words)
        documented = plain in about or (content and all(word[:STEM] in _stems(about) for word in content))
        if plain and not documented and not any(plain in each.casefold() for each in given.texts):
            return " ".join(words.split())
    return ""


def names_call(described: Described, text: str, given: GivenValues) -> bool:
    """Whether the text names a parameter or a value of the call."""
    lower = text.casefold()
    names = described.tool.parameters.get("properties") or {}
    words = {word for name in names for word in (name.casefold(), name.replace("_", " ").casefold())}
    values = {str(each).casefold() for each in _scalars(given.arguments)}
    return any(_stands_in(word, lower) for word in words) or any(
        _stands_in(value, lower) if len(value) >= SHORTEST else _is_quoted(value, lower) for value in values
    )


def _scalars(value: object, deep: int = 0) -> list[str | int | float]:
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for part in inner for each in _scalars(part, deep + 1)] if deep < 10 else []


def _stands_in(word: str, text: str) -> bool:
    return bool(word) and re.search(rf"(?<!\w){re.escape(word)}(?:s|es)?(?!\w)", text) is not None


def _is_quoted(value: str, text: str) -> bool:
    return any(f"{mark}{value}{mark}" in text for mark in "'\"`") or bool(
        re.search(r"\d", value) and _stands_in(value, text)
    )


def _is_related(text: str, about: str) -> bool:
    """Whether the text shares a word stem with the documentation."""
    known = _stems(about)
    return any(word[:STEM] in known for word in _content(text))


@lru_cache(maxsize=256)
def _stems(about: str) -> frozenset[str]:
    return frozenset(word[:STEM] for word in _content(about))


def _content(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold())[:MOST_WORDS] if not _EMPTY.match(word)]


def _documentation(described: Described) -> str:
    """All text about the tool, including names of parameters and choices, in lower case."""
    parameters = described.tool.parameters.get("properties")
    parts = [described.name.replace("_", " "), described.tool.description]
    for name, schema in parameters.items() if isinstance(parameters, dict) else ():
        parts += [
            name.replace("_", " "),
            str(schema.get("description", "")) if isinstance(schema, dict) else "",
        ]
        parts += [str(each) for each in schema.get("enum") or ()] if isinstance(schema, dict) else []
    return " ".join(parts).casefold()
