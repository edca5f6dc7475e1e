"""Steps that make the arguments of a call simpler, large ones first.

Steps that change a value wherever it is given, for defects that need it twice.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from misstep.core.tool import Invocation
from misstep.fuzzing.triage.measure import numbers_in, plainness_of, simplest, simplest_values
from misstep.schemas.schema import fits
from misstep.schemas.shape import resolve

DEEPEST = 40
MOST_NUMBERS = 8  # within a text
STAND_INS = " -/:'é€😀"  # for characters that can't be printed
LONGEST_SINGLY = 400  # characters or items; of more than that only chunks are looked at

Some = TypeVar("Some", bound=Sequence[Any])


def simpler_arguments(schema: Mapping[str, Any], arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Arguments a step simpler than these, or a step closer to what the schema asks for."""
    yield from (value for value in simplest_values(schema, schema) if isinstance(value, dict))
    for value in simpler_values(schema, arguments, schema):
        if isinstance(value, dict):
            yield value


def simpler_values(schema: Any, value: Any, root: Mapping[str, Any], depth: int = 0) -> Iterator[Any]:
    """Whether they really are simpler is for the measure to say."""
    schema = _fitting(resolve(schema, root), value, root)
    if depth > DEEPEST:
        return
    if depth:
        yield from simplest_values(schema, root)
    match value:
        case bool():
            yield False
        case int() | float():
            yield from _simpler_numbers(value)
        case str():
            yield from simpler_texts(value)
        case list():
            yield from _simpler_lists(schema, value, root, depth)
        case dict():
            yield from _simpler_objects(schema, value, root, depth)


def without_chunks(items: Some) -> Iterator[Some]:
    """The sequence without its halves, its quarters, …, each of its items."""
    for start, end in _chunks(len(items)):
        yield items[:start] + items[end:]  # type: ignore[operator]  # texts, lists and tuples all can


def _chunks(length: int) -> Iterator[tuple[int, int]]:
    size = length
    while size:
        if size > 1 or length <= LONGEST_SINGLY:
            for start in range(0, length, size):
                yield start, min(start + size, length)
        size = size // 2 if size > 1 else 0


def _simpler_numbers(value: int | float) -> Iterator[int | float]:
    yield 0
    if isinstance(value, float):
        if abs(value) < 1e15:
            yield int(value)
            yield round(value, 1)
        yield value / 2
        return
    if value < 0:
        yield -value
    step = abs(value) // 2
    while step:
        yield value - step if value > 0 else value + step
        step //= 2


def simpler_texts(text: str) -> Iterator[str]:
    """Plainer and shorter ones; whether they really are simpler is for the measure to say."""
    yield "a" * len(text)
    yield from _shorter_beginnings(text)
    yield from without_chunks(text)
    yield from _lower_within(text)
    for letter in "a0":
        for start, end in _chunks(len(text)):
            if any(plainness_of(each) > plainness_of(letter) for each in text[start:end]):
                yield text[:start] + letter * (end - start) + text[end:]
    if not text.isprintable():  # what breaks on a NUL byte may well break on something that people type
        yield from ("".join(each if each.isprintable() else other for each in text) for other in STAND_INS)


def _lower_within(text: str) -> Iterator[str]:
    """The text with a lower number in the place of one in it: nought, one, half of it, three quarters, …

    With as many digits as before too, since the text may have to be so long.
    """
    for found in islice(numbers_in(text), MOST_NUMBERS):
        lower = [0, 1, *_simpler_numbers(int(found[0]))]
        written = (each for number in lower for each in (str(number), str(number).zfill(len(found[0]))))
        for digits in dict.fromkeys(written):
            yield text[: found.start()] + digits + text[found.end() :]


def _shorter_beginnings(text: str) -> Iterator[str]:
    """For texts that only have to be long: half of it, three quarters, …"""
    step = len(text) // 2
    while step:
        yield text[: len(text) - step]
        step //= 2


def _simpler_lists(schema: Any, items: list[Any], root: Mapping[str, Any], depth: int) -> Iterator[list[Any]]:
    yield from without_chunks(items)
    inner = schema.get("items", {}) if isinstance(schema, Mapping) else {}
    for number, item in enumerate(items[:LONGEST_SINGLY]):
        for value in simpler_values(inner, item, root, depth + 1):
            yield [*items[:number], value, *items[number + 1 :]]


def _simpler_objects(
    schema: Any, members: dict[str, Any], root: Mapping[str, Any], depth: int
) -> Iterator[dict[str, Any]]:
    for kept in without_chunks(list(members)):
        yield {name: members[name] for name in kept}
    known = schema.get("properties") if isinstance(schema, Mapping) else None
    known = known if isinstance(known, Mapping) else {}
    yield from _completed(schema, members, known, root)
    for name, member in members.items():
        inner = known.get(name, {})
        for value in simpler_values(inner, member, root, depth + 1):
            yield {**members, name: value}


def _completed(
    schema: Any, members: dict[str, Any], known: Mapping[str, Any], root: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The object with what it lacks, and with simple values for whatever does not fit."""
    required = schema.get("required") if isinstance(schema, Mapping) else None
    missing = [name for name in required if name not in members] if isinstance(required, list) else []
    wrong = [name for name in members if name in known and fits(known[name], members[name], root) is not None]
    if missing or wrong:
        yield {**members, **{name: simplest(known.get(name, {}), root) for name in (*missing, *wrong)}}


def _fitting(schema: Any, value: Any, root: Mapping[str, Any]) -> Any:
    """The alternative of a schema that a value has taken, if it has alternatives."""
    if not isinstance(schema, Mapping):
        return {}
    for keyword in ("anyOf", "oneOf"):
        choices = schema.get(keyword)
        if isinstance(choices, list):
            taken = next((each for each in choices if fits(each, value, root) is None), None)
            return schema if taken is None else resolve(taken, root)
    return schema


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
