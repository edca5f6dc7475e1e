"""Steps that change a text wherever it is given, for defects that need it twice."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from misstep.core.tool import Invocation
from misstep.tooling.triage.steps import simpler_texts

PLAINEST = ("", "a", "0")
LOWEST = ("0", "1")
NUMBER = re.compile(r"[0-9]+")


def simpler_together(calls: Sequence[Invocation]) -> Iterator[tuple[Invocation, ...]]:
    """The calls with a simpler text in place of one that they are given more than once, the longest first."""
    for text in _repeated(calls):
        for simpler in (*PLAINEST, *_lower(text), *simpler_texts(text)):
            yield _with(calls, text, simpler)


def lower_together(calls: Sequence[Invocation]) -> Iterator[tuple[Invocation, ...]]:
    """The calls with a lower number in a text that the last of them shares with others.

    Where things are numbered, as in `T9`, that makes those unnecessary that were made before the ninth.
    """
    last = {*_texts_in(json.loads(calls[-1].arguments))}
    for text in _repeated(calls):
        if text in last:
            yield from (_with(calls, text, lower) for lower in _lower(text))


def _lower(text: str) -> list[str]:
    return [lower for number in LOWEST if (lower := NUMBER.sub(number, text)) != text]


def _repeated(calls: Sequence[Invocation]) -> list[str]:
    """Texts that are given more than once, the longest first."""
    times = Counter(text for call in calls for text in _texts_in(json.loads(call.arguments)))
    return sorted((each for each in times if times[each] > 1), key=lambda each: (-len(each), each))


def _with(calls: Sequence[Invocation], old: str, new: str) -> tuple[Invocation, ...]:
    return tuple(
        Invocation(call.tool, json.dumps(_replaced(json.loads(call.arguments), old, new))) for call in calls
    )


def _texts_in(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case list() as items:
                waiting += items
            case dict() as members:
                waiting += members.values()


def _replaced(value: Any, old: str, new: str) -> Any:
    match value:
        case str():
            return new if value == old else value
        case list():
            return [_replaced(each, old, new) for each in value]
        case dict():
            return {name: _replaced(each, old, new) for name, each in value.items()}
    return value
