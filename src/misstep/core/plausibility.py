"""How likely an agent is to make such calls, by their arguments alone."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from misstep.core.tool import Invocation

LONG = 200  # characters of a text that anybody would give by hand
LARGE = 10**12  # number that anybody would
DEEP = 8  # lists and objects within each other

ORDINARY, UNUSUAL, CONTROL, UNTYPABLE = range(4)


def oddity_of(calls: Sequence[Invocation]) -> int:
    """How strange the strangest value is: 0 for ordinary ones, up to 3 for NUL bytes and lone surrogates."""
    return max((_oddity(call) for call in calls), default=ORDINARY)


def length_of(calls: Sequence[Invocation]) -> int:
    return sum(len(call.arguments) for call in calls)


def _oddity(call: Invocation) -> int:
    try:
        return max(map(_of_leaf, _leaves(json.loads(call.arguments))), default=ORDINARY)
    except (ValueError, RecursionError):
        return UNTYPABLE


def _of_leaf(leaf: Any) -> int:
    if isinstance(leaf, str):
        return _of_text(leaf)
    is_large = isinstance(leaf, int | float) and not abs(leaf) <= LARGE
    return UNUSUAL if is_large else ORDINARY


def _of_text(text: str) -> int:
    if text.isprintable():
        return ORDINARY if len(text) <= LONG else UNUSUAL
    if any(each == "\0" or "\ud800" <= each <= "\udfff" or each in "\ufffe\uffff" for each in text):
        return UNTYPABLE
    if all(each.isprintable() or each in "\n\t" for each in text):
        return ORDINARY if len(text) <= LONG else UNUSUAL
    return CONTROL


def _leaves(value: Any) -> Iterator[Any]:
    """All that stands in a value, and a number that is too large for each place that is too deep."""
    waiting = [(value, 0)]
    while waiting:
        each, depth = waiting.pop()
        if depth > DEEP:
            yield 2 * LARGE
        elif isinstance(each, dict):
            yield from each
            waiting += [(inner, depth + 1) for inner in each.values()]
        elif isinstance(each, list):
            waiting += [(inner, depth + 1) for inner in each]
        else:
            yield each
