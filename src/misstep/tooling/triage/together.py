"""Steps that change a value wherever it is given, for defects that need it twice."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from misstep.core.tool import Invocation
from misstep.tooling.triage.steps import simpler_texts

PLAINEST = ("", "a", "0")
LOWEST = (0, 1)
NUMBER = re.compile(r"[0-9]{1,40}")


def simpler_together(calls: Sequence[Invocation]) -> Iterator[tuple[Invocation, ...]]:
    """The calls with a simpler value in place of one that is given more than once, the longest first."""
    for value in _repeated(calls):
        yield from (_with(calls, value, each) for each in _simpler(value, calls))


def lower_together(calls: Sequence[Invocation]) -> Iterator[tuple[Invocation, ...]]:
    """The calls with a lower number in a text that the last of them shares with others.

    Where things are numbered, as in `T9`, that makes those unnecessary that were made before the ninth.
    """
    last = {*_values_in(json.loads(calls[-1].arguments))}
    for value in _repeated(calls):
        if value in last and isinstance(value, str):
            yield from (_with(calls, value, lower) for lower in _lower(value, calls))


def _simpler(value: str | int, calls: Sequence[Invocation]) -> Iterable[str | int]:
    if not isinstance(value, str):
        return LOWEST
    return (*PLAINEST, *_lower(value, calls), *simpler_texts(value))


def _lower(text: str, calls: Sequence[Invocation]) -> list[str]:
    """The text with the lowest numbers, the lowest given one that differs in numbers only, and one less."""
    alike = [
        each for each in values_given(calls) if isinstance(each, str) and _outline(each) == _outline(text)
    ]
    lowest = sorted(alike, key=lambda each: [int(number) for number in NUMBER.findall(each)])[:1]
    one_less = NUMBER.sub(lambda number: str(max(int(number[0]) - 1, 0)), text)
    found = [*(NUMBER.sub(str(number), text) for number in LOWEST), *lowest, one_less]
    return [each for each in dict.fromkeys(found) if each != text]


def _outline(text: str) -> str:
    return NUMBER.sub("0", text)


def values_given(calls: Sequence[Invocation]) -> list[str | int]:
    """All texts and whole numbers among the arguments."""
    return [value for call in calls for value in _values_in(json.loads(call.arguments))]


def _repeated(calls: Sequence[Invocation]) -> list[str | int]:
    """Texts and whole numbers that are given more than once, the longest first."""
    times = Counter(values_given(calls))
    return sorted((each for each in times if times[each] > 1), key=lambda each: (-len(str(each)), str(each)))


def _with(calls: Sequence[Invocation], old: str | int, new: str | int) -> tuple[Invocation, ...]:
    return tuple(
        Invocation(call.tool, json.dumps(replaced(json.loads(call.arguments), {old: new}))) for call in calls
    )


def _values_in(value: Any) -> Iterator[str | int]:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case bool():
                pass
            case str() | int() as found:
                yield found
            case list() as items:
                waiting += items
            case dict() as members:
                waiting += members.values()


def replaced(value: Any, new: Mapping[str | int, str | int]) -> Any:
    """A value with new texts and whole numbers in the place of old ones."""
    match value:
        case bool():
            return value
        case str() | int():
            return new.get(value, value)
        case list():
            return [replaced(each, new) for each in value]
        case dict():
            return {name: replaced(each, new) for name, each in value.items()}
    return value
