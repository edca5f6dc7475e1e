"""Text that agents read and people don't see, or that gives agents orders, in descriptions and results."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from misstep.fuzzing.contracts.steps import Breach, Step
from misstep.fuzzing.judging.echoes import leaves_of
from misstep.fuzzing.judging.endings import runs_what_it_is_given
from misstep.schemas.shape import as_list, mapping

_NAMING = frozenset(("properties", "patternProperties", "$defs", "definitions"))
_VALUES = ("default", "examples", "const", "enum")
_DEEPEST = 20  # schemas in each other
_MANY = 4  # invisible characters that are no accident
_TAGS = re.compile("[\U000e0020-\U000e007f]+")
_FLAG = "\U0001f3f4"  # tags after it spell a flag
_OVERRIDES = re.compile("[\u202d\u202e]")
_ZERO_WIDTH = re.compile("[\u200b\u2060-\u2064\ufeff\u180e\U000e0100-\U000e01ef]")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")  # scripts in which U+200B separates words
# Terminals also read U+009B as the beginning of a sequence, but alone it comes from wrongly decoded text.
_SEQUENCE = re.compile(r"(?:\x1b\[|\x9b(?=[0-9;]))([0-9;]*)([A-Za-z])|\x1b\]")
_MOVES = frozenset("ABCDEFGHJKSTfsu")
_COLOURS = frozenset(("38", "48", "58"))  # parameters that are followed by a colour
_COLOUR_LENGTHS = {"5": 2, "2": 4}  # parameters of a colour, by the first of them
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all |any |the |your )*(?:previous|prior|above|earlier|other) "
    r"(?:instructions?|prompts?|rules|messages?)\b"
    r"|\b(?:do not|don't|never) (?:tell|inform|alert|notify|mention|reveal|disclose) "
    r"(?:(?:this|it|that|anything) )?(?:to )?the user (?:about (?:this|it)|that you|of this)\b"
    r"|\b(?:do not|don't|never) (?:mention|reveal|disclose|say|show) (?:this|it|these instructions?)"
    r"(?: (?:instruction|rule|fact))? to the user\b",
    re.IGNORECASE,
)
_SPEAKS_OF_ORDERS = re.compile(r"inject|jailbreak|prompt|sanitiz|moderat|secur", re.IGNORECASE)
_SPEAKS_OF_CHARACTERS = re.compile(r"unicode|invisible|sanitiz", re.IGNORECASE)


def find_breach(steps: Sequence[Step]) -> Breach | None:
    """Whether the last call's tool has such text in its description, or returns some that no call had."""
    last = steps[-1]
    if runs_what_it_is_given(last.tool):
        return None
    about = f"{last.name} {last.tool.tool.description}"
    may_order = _SPEAKS_OF_ORDERS.search(about) is not None
    if found := _read_documentation(tuple(_told(last)), may_order):
        return Breach("hidden text", last.name, "", found)
    given = json.dumps([step.arguments for step in steps], ensure_ascii=False)
    if find_hidden(given) or _SPEAKS_OF_CHARACTERS.search(about):
        return None
    found = find_hidden(last.reaction.text, may_order)
    return Breach("hidden text", last.name, "", f"its result contains {found}") if found else None


@lru_cache(maxsize=256)  # each call of a tool is judged, often in several sequences
def _read_documentation(told: tuple[tuple[str, str], ...], may_order: bool) -> str:
    """What hides in a tool's documentation, in words; empty if nothing does."""
    hidden = ((place, find_hidden(text, may_order)) for place, text in told)
    return next((f"{place} {what}" for place, what in hidden if what), "")


def _told(step: Step) -> Iterator[tuple[str, str]]:
    yield "its name contains", step.name
    yield "its description contains", step.tool.tool.description
    yield from _in_schema(step.tool.tool.parameters, "the arguments")
    yield from _in_schema(step.tool.output or {}, "the result")
    yield "the server's instructions contain", step.tool.server_says


def _in_schema(schema: Mapping[str, Any], name: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """The names, titles, descriptions and values in a schema, however deep."""
    for keyword in ("title", "description", "$comment"):
        yield f"its {keyword} of {name} contains", str(schema.get(keyword, ""))
    for value in leaves_of([schema[keyword] for keyword in _VALUES if keyword in schema]):
        yield f"a value of {name} contains", str(value)
    for keyword, inner in schema.items() if depth < _DEEPEST else ():
        if keyword in _NAMING:
            for each, value in mapping(inner).items():
                yield f"a name in the schema of {name} contains", each
                yield from _in_schema(mapping(value), each, depth + 1)
        elif keyword not in _VALUES:
            for value in as_list(inner) or [inner]:
                yield from _in_schema(mapping(value), name, depth + 1)


def find_hidden(text: str, may_order: bool = False) -> str:
    """What is hidden in a text, in words; empty if nothing is. Texts about orders `may_order` something."""
    for tags in _TAGS.finditer(text):
        if text[max(tags.start() - 1, 0) : tags.start()] != _FLAG:
            letters = "".join(chr(ord(each) - 0xE0000) for each in tags[0])
            return f"invisible Unicode tags, which spell {letters[:100]!r}"
    if found := _OVERRIDES.search(text):
        return f"U+{ord(found[0]):04X}, {unicodedata.name(found[0])}, which reverses how text is shown"
    if len(invisible := _ZERO_WIDTH.findall(text)) >= _MANY and not _UNSPACED.search(text):
        return f"{len(invisible)} characters of no width"
    if sequence := next(filter(_hides_or_moves, _SEQUENCE.finditer(text)), None):
        return f"a terminal sequence that hides or moves text, {sequence[0]!r}"
    if not may_order and (found := _ORDERS.search(text)):
        return f"an order to the agent: {found[0]!r}"
    return ""


def _hides_or_moves(sequence: re.Match[str]) -> bool:
    """Not if it only sets a colour or a style, or clears the rest of the line, as grep and gcc do."""
    numbers, command = sequence[1], sequence[2]
    if command == "m":
        return _conceals(numbers.split(";"))
    return command is None or (command in _MOVES and (command != "K" or numbers.strip("0") != ""))


def _conceals(numbers: Sequence[str]) -> bool:
    """Whether 8 is among these parameters of a style, outside of colours."""
    place = 0
    while place < len(numbers):
        if numbers[place].lstrip("0") == "8":
            return True
        if numbers[place] in _COLOURS:
            place += _COLOUR_LENGTHS.get("".join(numbers[place + 1 : place + 2]), 0)
        place += 1
    return False
