"""Simplification steps for the arguments of calls, large ones first.

Some steps change a value wherever it occurs, for defects that need it twice.
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
STAND_INS = " -/:'é€😀"  # replacements for unprintable characters
LONGEST_SINGLY = 400  # characters or items; longer values are only cut in chunks

Some = TypeVar("Some", bound=Sequence[Any])


def simpler_arguments(schema: Mapping[str, Any], arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Arguments that are one step simpler, or closer to what the schema requires."""
    yield from (value for value in simplest_values(schema, schema) if isinstance(value, dict))
    for value in simpler_values(schema, arguments, schema):
        if isinstance(value, dict):
            yield value


def simpler_values(schema: Any, value: Any, root: Mapping[str, Any], depth: int = 0) -> Iterator[Any]:
    """Candidates for simpler values; `measure` decides whether they are."""
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
    """The sequence without each half, quarter, …, single item."""
    for start, end in _chunks(len(items)):
        yield items[:start] + items[end:]  # type: ignore[operator]  # works for texts, lists and tuples


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
    """Candidates for plainer and shorter texts; `measure` decides whether they are."""
    yield "a" * len(text)
    yield from _shorter_beginnings(text)
    yield from without_chunks(text)
    yield from _lower_within(text)
    for letter in "a0":
        for start, end in _chunks(len(text)):
            if any(plainness_of(each) > plainness_of(letter) for each in text[start:end]):
                yield text[:start] + letter * (end - start) + text[end:]
    if not text.isprintable():  # a tool that fails on a NUL byte may also fail on characters that people type
        yield from ("".join(each if each.isprintable() else other for each in text) for other in STAND_INS)


def _lower_within(text: str) -> Iterator[str]:
    """The text with one number replaced by a lower one: 0, 1, half of it, three quarters, …

    Also padded to the same number of digits, in case the length matters.
    """
    for found in islice(numbers_in(text), MOST_NUMBERS):
        lower = [0, 1, *_simpler_numbers(int(found[0]))]
        written = (each for number in lower for each in (str(number), str(number).zfill(len(found[0]))))
        for digits in dict.fromkeys(written):
            yield text[: found.start()] + digits + text[found.end() :]


def _shorter_beginnings(text: str) -> Iterator[str]:
    """For texts that only have to be long: the first half, three quarters, …"""
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
    """The object with required properties added, and simple values in place of invalid ones."""
    required = schema.get("required") if isinstance(schema, Mapping) else None
    missing = [name for name in required if name not in members] if isinstance(required, list) else []
    wrong = [name for name in members if name in known and fits(known[name], members[name], root) is not None]
    if missing or wrong:
        yield {**members, **{name: simplest(known.get(name, {}), root) for name in (*missing, *wrong)}}


def _fitting(schema: Any, value: Any, root: Mapping[str, Any]) -> Any:
    """The alternative of a schema that the value fits, if there are alternatives."""
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
    """The calls with a simpler value in place of a repeated one, longest first."""
    for value in _repeated(calls):
        yield from (_with(calls, value, each) for each in _simpler(value, calls))


def lower_together(calls: Sequence[Invocation]) -> Iterator[tuple[Invocation, ...]]:
    """The calls with a lower number in a text that the last call shares with others.

    If things are numbered, as in `T9`, the calls that created the first eight become unnecessary.
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
    """The text with the lowest numbers, with the lowest among similar arguments, and with one less."""
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
    """All texts and integers among the arguments."""
    return [value for call in calls for value in _values_in(json.loads(call.arguments))]


def _repeated(calls: Sequence[Invocation]) -> list[str | int]:
    """Texts and integers that occur more than once, longest first."""
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
    """The value with texts and integers replaced."""
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
