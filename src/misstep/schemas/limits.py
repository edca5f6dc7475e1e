"""Keywords of JSON schemas that apply to a value itself, not to its parts."""

import json
from collections.abc import Callable
from fractions import Fraction
from operator import ge, gt, le, lt
from typing import Any, TypeAlias

import msgspec

from misstep.schemas.formats import matches, same

MOST_COMPARED = 500  # items that are compared pairwise
MOST_LISTED = 10  # choices in a message
LONGEST_SHOWN = 60  # characters of a value or a name


class Misfit(msgspec.Struct, frozen=True):
    """What is wrong with the part of a value at `place`; `unexpected` names a disallowed property."""

    says: str
    place: tuple[str | int, ...] = ()
    unexpected: str | None = None

    def within(self, key: str | int) -> "Misfit":
        return Misfit(self.says, (key, *self.place), self.unexpected)

    @property
    def text(self) -> str:
        where = "".join(f"[{key}]" if isinstance(key, int) else f".{_plain(key)}" for key in self.place)
        where = where.removeprefix(".")
        if self.unexpected is None:
            return f"{where or 'the value'} {self.says}"
        inside = f" in {where}" if where else ""
        return f"{_shown(self.unexpected)} is not expected{inside}"


# Takes the keyword's value and the value to check.
_Limit: TypeAlias = Callable[[Any, Any], Misfit | None]


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_integer(value: object) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


# How each type is called in messages, and its check.
_TYPES: dict[str, tuple[str, Callable[[object], bool]]] = {
    "string": ("a string", lambda value: isinstance(value, str)),
    "integer": ("an integer", _is_integer),
    "number": ("a number", is_number),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "array": ("a list", lambda value: isinstance(value, list)),
    "object": ("an object", lambda value: isinstance(value, dict)),
    "null": ("null", lambda value: value is None),
}


def _type(wanted: Any, value: Any) -> Misfit | None:
    kinds = wanted if isinstance(wanted, list) else [wanted]
    for kind in kinds:
        known = _TYPES.get(kind) if isinstance(kind, str) else None
        if known is None or known[1](value):
            return None
    return Misfit(f"must be {' or '.join(_TYPES[kind][0] for kind in kinds)}") if kinds else None


def _enum(wanted: Any, value: Any) -> Misfit | None:
    if not isinstance(wanted, list) or any(same(each, value) for each in wanted):
        return None
    listed = ", ".join(_shown(each) for each in wanted[:MOST_LISTED])
    more = ", …" if len(wanted) > MOST_LISTED else ""
    return Misfit(f"must be one of {listed}{more}")


def _const(wanted: Any, value: Any) -> Misfit | None:
    return None if same(wanted, value) else Misfit(f"must be {_shown(wanted)}")


def _required(wanted: Any, value: Any) -> Misfit | None:
    if isinstance(value, dict) and isinstance(wanted, list):
        for name in wanted:
            if isinstance(name, str) and name not in value:
                return Misfit("is missing", (name,))
    return None


def _unique_items(wanted: Any, value: Any) -> Misfit | None:
    if wanted is not True or not isinstance(value, list) or len(value) > MOST_COMPARED:
        return None
    twice = any(same(one, other) for place, one in enumerate(value) for other in value[:place])
    return Misfit("must not contain duplicates") if twice else None


def _pattern(wanted: Any, value: Any) -> Misfit | None:
    if isinstance(value, str) and isinstance(wanted, str) and matches(wanted, value) is False:
        return Misfit(f"must match {_shown(wanted)}")
    return None


def _multiple_of(wanted: Any, value: Any) -> Misfit | None:
    if not is_number(value) or not is_number(wanted) or not wanted > 0:
        return None
    try:
        # As exact decimals: in binary floating point 0.3 is not a multiple of 0.1.
        remainder = Fraction(repr(value)) % Fraction(repr(wanted))
    except ValueError:  # infinite or not a number
        return None
    return Misfit(f"must be a multiple of {_shown(wanted)}") if remainder else None


def _bound(words: str, holds: Callable[[Any, Any], bool]) -> _Limit:
    def check(wanted: Any, value: Any) -> Misfit | None:
        if is_number(value) and is_number(wanted) and not holds(value, wanted):
            return Misfit(f"must be {words} {_shown(wanted)}")
        return None

    return check


def _size(
    kind: type[str | list[Any] | dict[str, Any]], words: str, noun: str, holds: Callable[[Any, Any], bool]
) -> _Limit:
    def check(wanted: Any, value: Any) -> Misfit | None:
        if isinstance(value, kind) and is_number(wanted) and not holds(len(value), wanted):
            return Misfit(f"must have {words} {_shown(wanted)} {noun}{'' if wanted == 1 else 's'}")
        return None

    return check


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _plain(name: str) -> str:
    return name if name.isprintable() and len(name) <= LONGEST_SHOWN else _shown(name)


LIMITS: dict[str, _Limit] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "required": _required,
    "minProperties": _size(dict, "at least", "member", ge),
    "maxProperties": _size(dict, "at most", "member", le),
    "minItems": _size(list, "at least", "item", ge),
    "maxItems": _size(list, "at most", "item", le),
    "uniqueItems": _unique_items,
    "minLength": _size(str, "at least", "character", ge),
    "maxLength": _size(str, "at most", "character", le),
    "pattern": _pattern,
    "minimum": _bound("at least", ge),
    "maximum": _bound("at most", le),
    "exclusiveMinimum": _bound("more than", gt),
    "exclusiveMaximum": _bound("less than", lt),
    "multipleOf": _multiple_of,
}
