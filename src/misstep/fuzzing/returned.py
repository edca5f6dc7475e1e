"""Arguments that stand for what an earlier call returned, such as the id of a session that it opened.

In stored calls, `${result.session_id}` is the latest value that a result had under this name, as a text, and
`${result.id:number}` the same as a number. `${result.id@add_row#2}` is the value in the latest result but one
of the tool `add_row`. It is put in when the call is made.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec

from misstep.core.tool import RESULT, Reaction, ReturnedNumber, ReturnedText
from misstep.schemas.schema import Unknown, fits

MARKER = re.compile(
    r"\$\{result\.(?P<name>[\w.-]{1,80})(?:@(?P<tool>[\w./-]{1,128})#(?P<back>[1-9]))?(?P<number>:number)?\}"
)
_NAMED_IN_MARKER = re.compile(r"[\w.-]{1,80}")
_MOST_BACK = 2  # results of a tool whose values can be told apart
MOST_TOLD = 256  # names of values in the results of a tool that are kept; in some results, ids are names
# What fits most schemas of ids.
_ANY_TEXT, _ANY_NUMBER = "7d0c3c5e-1f7a-4b8e-9a57-2f4f3f5f8a10", 1


def returned(name: str, value: str | int) -> ReturnedText | ReturnedNumber:
    made = ReturnedNumber(value) if isinstance(value, int) else ReturnedText(value)
    made.name = name
    return made


def is_returned(value: Any) -> bool:
    """Whether a value, or what is stored for it, was returned by an earlier call."""
    return isinstance(value, ReturnedText | ReturnedNumber) or (isinstance(value, str) and is_marker(value))


def marker_for(name: str, tool: str, back: int, is_number: bool) -> str:
    """What stands for a value in the latest result of a tool, or in an earlier one; empty if nothing can."""
    made = f"{RESULT}{name}@{tool}#{back}{':number' if is_number else ''}}}"
    return made if is_marker(made) else ""


def may_have_markers(text: str) -> bool:
    return RESULT in text


def is_marker(text: str) -> bool:
    return text.startswith(RESULT) and MARKER.fullmatch(text) is not None


def with_unknowns(value: Any) -> Any:
    """Arguments in which what is returned by earlier calls fits every schema."""
    try:
        return _unknown(value)
    except RecursionError:
        return value


def _unknown(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unknown(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_unknown(each) for each in value]
    return Unknown(value) if is_returned(value) else value


def misfit_of(schema: Mapping[str, Any], arguments: Any) -> str | None:
    """What a schema forbids about arguments, as `fits`; nothing where an earlier call returns the value."""
    found = fits(schema, arguments)
    if found is None or not _has_returned(arguments):
        return found
    if fits(schema, _filled_in(arguments, {}, use_any=True)) is None:
        return None
    return fits(schema, with_unknowns(arguments))


def _has_returned(value: Any) -> bool:
    try:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return is_returned(value) or any(map(_has_returned, inner))
    except RecursionError:  # what is nested so deeply has no markers
        return False


def filled_in(value: Any, latest: Mapping[str, str | int]) -> Any:
    """Stored arguments with the latest values by name, stored again as before; markers without one stay."""
    return _filled_in(value, latest, use_any=False)


def _filled_in(value: Any, latest: Mapping[str, str | int], use_any: bool) -> Any:
    try:
        return _replaced(value, latest, use_any)
    except RecursionError:  # what is nested so deeply has no markers
        return value


def _replaced(value: Any, latest: Mapping[str, str | int], use_any: bool) -> Any:
    if isinstance(value, str) and value.startswith(RESULT) and (found := MARKER.fullmatch(value)):
        name, tool, is_number = found["name"], found["tool"], bool(found["number"])
        key = _key(name, tool, found["back"]) if tool else name
        new = latest.get(key)
        if new is None:
            return (_ANY_NUMBER if is_number else _ANY_TEXT) if use_any else value
        text = str(new)
        if not is_number:
            return returned(key, text)
        return returned(key, int(text)) if text.isascii() and text.isdecimal() else value
    if isinstance(value, dict):
        return {key: _replaced(each, latest, use_any) for key, each in value.items()}
    return [_replaced(each, latest, use_any) for each in value] if isinstance(value, list) else value


def _key(name: str, tool: str, back: str | int) -> str:
    return f"{name}@{tool}#{back}"


READ = 2000  # characters of a result
_LARGEST = 1 << 16  # characters of a structured result that is kept
_MOST = 16  # values per result
_LONGEST = 200

NAME = re.compile(r"[\w.@+-]{1,120}")
_NAMED = re.compile(r"""["']?\b([A-Za-z_]\w{0,40})["']?\s*[:=#]\s*["']?([^\s"',;{}\[\]<>]{1,120})""")
_LOOSE = re.compile(
    r"""[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|"([^"\n]{1,120})"|'([^'\n]{1,120})'"""
    r"""|(?<![\w.-])[\w.-]{0,60}[\\/][\w./\\-]{1,120}|\b\d{1,18}\b"""
)


def latest_in(reaction: Reaction) -> dict[str, str | int]:
    """The first value of each name in a result."""
    found = dict[str, str | int]()
    for name, value in values_in(reaction):
        if _NAMED_IN_MARKER.fullmatch(name) and isinstance(value, str | int):
            found.setdefault(name, value)
    return found


def without_bulk(reaction: Reaction) -> Reaction:
    """What `latest_in` reads of a result. Large ones would fill the memory that tools are allowed."""
    structured = reaction.structured
    if structured is not None and len(structured) > _LARGEST:
        structured = None
    return Reaction("returned", text=reaction.text, structured=structured)


def remember(latest: dict[str, str | int], tool: str, reaction: Reaction) -> None:
    """Take in the result of a tool: its values by name, and by name, tool and number of results since."""
    known = sum(key.endswith(f"@{tool}#1") for key in latest)
    for name, value in latest_in(reaction).items():
        if _key(name, tool, 1) not in latest:
            if known >= MOST_TOLD:
                continue
            known += 1
        latest[name] = value
        for back in range(_MOST_BACK, 1, -1):
            if (earlier := latest.get(_key(name, tool, back - 1))) is not None:
                latest[_key(name, tool, back)] = earlier
        latest[_key(name, tool, 1)] = value


def values_in(reaction: Reaction) -> Iterator[tuple[str, Any]]:
    """Values of a result with their names; unnamed ones have an empty name."""
    return islice(_all_values(reaction), _MOST)


def _all_values(reaction: Reaction) -> Iterator[tuple[str, Any]]:
    if reaction.structured is not None:
        yield from _within("", _decoded(reaction.structured))
    text = reaction.text[:READ]
    if text[:1] in ("{", "["):
        yield from _within("", _decoded(reaction.text))
        return
    yield from ((named[1], named[2].rstrip(".")) for named in _NAMED.finditer(text))
    yield from (("", loose[1] or loose[2] or loose[0]) for loose in _LOOSE.finditer(text))
    lines = text.splitlines()
    if len(lines) > 1 and all(map(NAME.fullmatch, lines[:_MOST])):
        yield from (("", line) for line in lines)
    if 0 < len(text) <= 80:
        yield "", text.strip()


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def _within(name: str, value: Any, deep: int = 0) -> Iterator[tuple[str, Any]]:
    """The scalars in a JSON value; those in a list have the name of the list."""
    if isinstance(value, dict) and deep < 6:
        for key, each in value.items():
            yield from _within(key, each, deep + 1)
    elif isinstance(value, list) and deep < 6:
        for each in value[:8]:
            yield from _within(name, each, deep + 1)
    elif type(value) is int or (isinstance(value, str) and 0 < len(value) <= _LONGEST):
        yield name, value
