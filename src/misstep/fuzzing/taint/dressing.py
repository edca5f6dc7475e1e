"""Adds marks to JSON values and removes them."""

from collections.abc import Callable
from typing import Any

from misstep.fuzzing.taint.containers import MarkedDict, MarkedList, row, table
from misstep.fuzzing.taint.numbers import MarkedFloat, MarkedInt, number
from misstep.fuzzing.taint.record import ValueOrigin
from misstep.fuzzing.taint.text import MarkedText, Octets, octets, text

DEEPEST = 100

# By id: each value seen (kept alive so that its id is not reused) and its result.
_Done = dict[int, tuple[Any, Any]]


def dress(value: Any, origin: ValueOrigin | None, depth: int = DEEPEST) -> Any:
    """Mark the value and everything in it, up to a depth. Values that are not JSON stay unchanged."""
    kind = type(value)
    if origin is None or depth == 0:
        return value
    if kind is list:
        items = [dress(item, origin.below(place), depth - 1) for place, item in enumerate(value)]
        return row(items, origin)
    if kind is dict:
        pairs = value.items()
        return table({key: _dress_property(key, item, origin, depth) for key, item in pairs}, origin)
    if kind is bytes:
        return octets(value, origin)
    return text(value, origin) if kind is str else number(value, origin)


def _dress_property(key: Any, item: Any, origin: ValueOrigin, depth: int) -> Any:
    return dress(item, origin.below(key), depth - 1) if isinstance(key, str) else item


def plain(value: Any) -> Any:
    """The value without marks; unmarked values are returned as they are."""
    return _plain(value, {}, DEEPEST)


def _plain(value: Any, done: _Done, depth: int) -> Any:
    kind = type(value)
    if kind in _SCALARS:
        return _SCALARS[kind](value)
    if depth == 0 or kind not in _CONTAINERS:
        return value
    if id(value) not in done:
        done[id(value)] = value, value  # a container may contain itself
        done[id(value)] = value, _plain_container(value, kind, done, depth - 1)
    return done[id(value)][1]


_SCALARS: dict[type, Callable[[Any], Any]] = {
    MarkedText: str.__str__,
    MarkedInt: int.__int__,
    MarkedFloat: float.__float__,
    Octets: bytes.__bytes__,
}
_CONTAINERS = (list, dict, tuple, set, frozenset, MarkedList, MarkedDict)


def _plain_container(value: Any, kind: type, done: _Done, depth: int) -> Any:
    base: Any = list if kind is MarkedList else dict if kind is MarkedDict else kind
    old = list(dict.items(value)) if base is dict else list(base.__iter__(value))
    new = [_plain(item, done, depth) for item in old]
    if base is kind and all(one is other for one, other in zip(old, new, strict=True)):
        return value
    return base(new)
