"""Reads the steps of a text agent, however untidily they are written."""

import ast
import json
import re
from typing import Any, TypeAlias

import msgspec


class Act(msgspec.Struct, frozen=True):
    """A call; arguments that can't be read are the text they were."""

    tool: str
    arguments: Any


class Finish(msgspec.Struct, frozen=True):
    text: str


class Unreadable(msgspec.Struct, frozen=True):
    """Neither a call nor an answer."""


Step: TypeAlias = Act | Finish | Unreadable

_LABEL = r"(?im)^[ \t>*_#`-]*{}[ \t*_`]*\d*[ \t]*[:：][ \t*_]*"
_OBSERVATION = re.compile(_LABEL.format("observation"))
_ACTION = re.compile(_LABEL.format("action"))
_INPUT = re.compile(r"(?i)[ \t>*_#`-]*action[ _]?input[ \t*_`]*\d*[ \t]*[:：][ \t*_]*")
_ANSWER = re.compile(_LABEL.format(r"final[ _]?answer"))
_THOUGHT = re.compile(_LABEL.format("thought"))
_FENCE = re.compile(r"\A```[\w-]*\s*|\s*```\s*\Z")
_CALL = re.compile(r"\A([^\s(\[{:]+)\s*(?:\((.*)\)|\[(.*)\]|:?\s*(\{.*))\s*\Z", re.DOTALL)
_NOTHING = ("", "none", "null", "n/a", "na", "-", "empty", "no input", "not applicable", '""', "''", "()")


def read_step(text: str) -> Step:
    """The first call or answer in a text; what the model made up about results is left out."""
    text = _OBSERVATION.split(text, maxsplit=1)[0]
    action, answer = _ACTION.search(text), _ANSWER.search(text)
    if answer and (not action or answer.start() < action.start()):
        return Finish(text[answer.end() :].strip())
    if not action:
        return Unreadable()
    rest = _THOUGHT.split(_ANSWER.split(text[action.end() :], maxsplit=1)[0], maxsplit=1)[0]
    name, given, arguments = _parted(rest)
    if not given:
        name, arguments = _called(name)
    name = name.strip().strip("`\"'*_[]<> ").removesuffix("()")
    return Act(name, read_input(arguments)) if name else Unreadable()


def _parted(rest: str) -> tuple[str, bool, str]:
    """What stands before and after `Action Input:`, and whether it was there."""
    match = _INPUT.search(rest)
    if match:
        return rest[: match.start()], True, rest[match.end() :]
    first, _, after = rest.strip().partition("\n")
    return (rest.strip(), False, "") if after.strip() and _CALL.match(rest.strip()) else (first, False, "")


def _called(name: str) -> tuple[str, str]:
    """A call on one line: `tool(…)`, `tool[…]`, `tool {…}`."""
    match = _CALL.match(name.strip().strip("`"))
    return (match[1], match[2] or match[3] or match[4] or "") if match else (name, "")


def read_input(text: str) -> Any:
    """Arguments out of JSON, or out of Python's way to write the same; else the text itself."""
    text = _FENCE.sub("", text.strip()).strip()
    if text.lower() in _NOTHING:
        return {}
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return _literal(text)
    if not isinstance(value, dict) and text[end:].strip():
        return text  # that happens to begin like JSON
    return {} if value in (None, "") else value


def _literal(text: str) -> Any:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if isinstance(value, dict) else text
