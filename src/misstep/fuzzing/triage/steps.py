"""Measures how simple calls are, and proposes simpler ones: large steps first."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias, TypeVar

from msgspec.structs import replace

from misstep.core.tool import Invocation
from misstep.fuzzing.judging.echoes import leaves_of
from misstep.fuzzing.returned import is_marker, with_unknowns
from misstep.schemas.limits import is_number
from misstep.schemas.schema import fits
from misstep.schemas.shape import as_list, mapping, names_in, resolve

DEEPEST_MADE = 6
MOST_CHOICES = 4
LONGEST = 1_000  # characters or items that a minimum may require

_PLAIN: dict[str, tuple[Any, ...]] = {
    "string": ("", "a", "0"),
    "integer": (0, 1),
    "number": (0, 1),
    "boolean": (False,),
    "null": (None,),
}


def simplest_values(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Iterator[Any]:
    """Some values that fit, simple ones first; none if they are hard to find."""
    schema = resolve(schema, root)
    if not isinstance(schema, Mapping):
        yield from ("", 0)
    elif depth <= DEEPEST_MADE:
        yield from (value for value in _guesses(schema, root, depth) if fits(schema, value, root) is None)


def simplest(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Any:
    return next(simplest_values(schema, root, depth), None)


def _guesses(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Iterator[Any]:
    if "const" in schema:
        yield schema["const"]
    if isinstance(choices := schema.get("enum"), list):
        yield from sorted(choices, key=lambda choice: len(str(choice)))[:MOST_CHOICES]
    for keyword in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(keyword) or ():
            yield from simplest_values(each, root, depth + 1)
    kinds = schema.get("type", "object" if "properties" in schema else ["string", "integer"])
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        yield from _of_kind(str(kind), schema, root, depth)


def _of_kind(kind: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Iterator[Any]:
    yield from _PLAIN.get(kind, ())
    match kind:
        case "string":
            yield "a" * _fewest(schema, "minLength")
        case "integer" | "number":
            yield from _bounds(schema)
        case "array":
            yield []
            few = _fewest(schema, "minItems") or 1
            yield [simplest(schema.get("items", {}), root, depth + 1) for _ in range(few)]
        case "object":
            known, required = mapping(schema.get("properties")), names_in(schema.get("required"))
            yield {name: simplest(known.get(name, {}), root, depth + 1) for name in required}


def _fewest(schema: Mapping[str, Any], keyword: str) -> int:
    wanted = schema.get(keyword)
    return min(wanted, LONGEST) if isinstance(wanted, int) and wanted > 0 else 0


def _bounds(schema: Mapping[str, Any]) -> Iterator[int | float]:
    step: Any = schema.get("multipleOf")
    for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        bound: Any = schema.get(keyword)
        if is_number(bound):
            yield bound
            yield bound + 1 if keyword == "exclusiveMinimum" else bound - 1
    if is_number(step):
        yield step


# Whether arguments fit the schema of the tool with this name.
Fits: TypeAlias = Callable[[str, dict[str, Any]], bool]

# Number of calls, invalid calls, odd characters, length, character complexity, size of numbers, text.
Measure: TypeAlias = tuple[int, int, int, int, int, float, str]

HUGE = 1e18
READ = 4_000  # characters of a text that are searched for numbers

_NUMBER = re.compile("(?<![0-9])[0-9]{1,40}(?![0-9])")  # longer ones are treated as text


def measure(calls: Sequence[Invocation], fits: Fits) -> Measure:
    """A sort key: fewer calls, valid arguments, printable text, and less of everything are simpler."""
    texts = [call.arguments for call in calls]
    values = [json.loads(text) for text in texts]
    misfits = sum(not fits(call.tool, value) for call, value in zip(calls, values, strict=True))
    odd, plainness, size = 0, 0, 0.0
    for leaf in leaves_of(values):
        if leaf is None:
            continue
        if isinstance(leaf, str):
            odd += 0 if leaf.isprintable() else sum(not each.isprintable() for each in leaf)
            plainness += sum(map(plainness_of, leaf))
            size += sum(min(int(found[0]), HUGE) for found in numbers_in(leaf))
        else:
            size += min(abs(leaf), HUGE)
    return len(texts), misfits, odd, sum(map(len, texts)), plainness, size, "\n".join(texts)


def plainness_of(character: str) -> int:
    """0 for the simplest letter, then digits, letters, other printable characters, and so on."""
    if character == "a":
        return 0
    if character.isascii():
        return 1 if character.isdigit() else 2 if character.isalpha() else 3 if character.isprintable() else 5
    return 4 if character.isprintable() else 6


def numbers_in(text: str) -> Iterator[re.Match[str]]:
    return _NUMBER.finditer(text, 0, READ)


DEEPEST = 40
MOST_NUMBERS = 8  # within a text
STAND_INS = " -/:'é€😀"  # replacements for unprintable characters
LONGEST_SINGLY = 400  # characters or items; longer values are only cut in chunks

Some = TypeVar("Some", bound=Sequence[Any])


def simpler_arguments(schema: Mapping[str, Any], arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Arguments that are one step simpler, or closer to what the schema requires."""
    yield from (value for value in simplest_values(schema, schema) if isinstance(value, dict))
    yield from (value for value in simpler_values(schema, arguments, schema) if isinstance(value, dict))


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
        case str() if not is_marker(value):
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
    for size in _halves(length):
        if size > 1 or length <= LONGEST_SINGLY:
            for start in range(0, length, size):
                yield start, min(start + size, length)


def _halves(size: int) -> Iterator[int]:
    """The number, half of it, a quarter, …, 1."""
    while size:
        yield size
        size //= 2


def _simpler_numbers(value: int | float) -> Iterator[int | float]:
    yield 0
    if isinstance(value, float):
        yield from (int(value), round(value, 1)) if abs(value) < 1e15 else ()
        yield value / 2
        return
    if value < 0:
        yield -value
    for step in _halves(abs(value) // 2):
        yield value - step if value > 0 else value + step


def simpler_texts(text: str) -> Iterator[str]:
    """Candidates for plainer and shorter texts; `measure` decides whether they are."""
    yield "a" * len(text)
    # For texts that only have to be long: the first half, three quarters, …
    yield from (text[: len(text) - step] for step in _halves(len(text) // 2))
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


def _simpler_lists(
    schema: Mapping[str, Any], items: list[Any], root: Mapping[str, Any], depth: int
) -> Iterator[list[Any]]:
    yield from without_chunks(items)
    inner = schema.get("items", {})
    for number, item in enumerate(items[:LONGEST_SINGLY]):
        for value in simpler_values(inner, item, root, depth + 1):
            yield [*items[:number], value, *items[number + 1 :]]


def _simpler_objects(
    schema: Mapping[str, Any], members: dict[str, Any], root: Mapping[str, Any], depth: int
) -> Iterator[dict[str, Any]]:
    for kept in without_chunks(list(members)):
        yield {name: members[name] for name in kept}
    known = mapping(schema.get("properties"))
    missing = [name for name in as_list(schema.get("required")) if name not in members]
    own = {name: with_unknowns(members[name]) for name in members if name in known}
    wrong = [name for name in own if fits(known[name], own[name], root) is not None]
    if missing or wrong:
        yield {**members, **{name: simplest(known.get(name, {}), root) for name in (*missing, *wrong)}}
    for name, member in members.items():
        inner = known.get(name, {})
        for value in simpler_values(inner, member, root, depth + 1):
            yield {**members, name: value}


def _fitting(schema: Any, value: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The alternative of a schema that the value fits, if there are alternatives."""
    whole = mapping(schema)
    for keyword in ("anyOf", "oneOf"):
        choices = whole.get(keyword)
        if isinstance(choices, list):
            taken = next((each for each in choices if fits(each, value, root) is None), None)
            return whole if taken is None else mapping(resolve(taken, root))
    return whole


NUMBER = re.compile(r"[0-9]{1,40}")


def simpler_together(calls: Sequence[Invocation]) -> Iterator[tuple[Invocation, ...]]:
    """The calls with a simpler value in place of a repeated one, longest first."""
    for value in _repeated(calls):
        simpler: Iterable[str | int] = _PLAIN["integer" if isinstance(value, int) else "string"]
        if isinstance(value, str) and not is_marker(value):
            simpler = (*simpler, *_lower(value, calls), *simpler_texts(value))
        yield from (_with(calls, value, each) for each in simpler)


def lower_together(calls: Sequence[Invocation]) -> Iterator[tuple[Invocation, ...]]:
    """The calls with a lower number in a text that the last call shares with others.

    If things are numbered, as in `T9`, the calls that created the first eight become unnecessary.
    """
    last = {*values_given(calls[-1:])}
    for value in _repeated(calls):
        if value in last and isinstance(value, str) and not is_marker(value):
            yield from (_with(calls, value, lower) for lower in _lower(value, calls))


def _lower(text: str, calls: Sequence[Invocation]) -> list[str]:
    """The text with the lowest numbers, with the lowest among similar arguments, and with one less."""
    outline, texts = NUMBER.sub("0", text), [each for each in values_given(calls) if isinstance(each, str)]
    alike = [each for each in texts if NUMBER.sub("0", each) == outline]
    lowest = sorted(alike, key=lambda each: [int(number) for number in NUMBER.findall(each)])[:1]
    one_less = NUMBER.sub(lambda number: str(max(int(number[0]) - 1, 0)), text)
    found = [*(NUMBER.sub(str(number), text) for number in _PLAIN["integer"]), *lowest, one_less]
    return [each for each in dict.fromkeys(found) if each != text]


def values_given(calls: Sequence[Invocation]) -> list[str | int]:
    leaves = (leaf for call in calls for leaf in leaves_of(json.loads(call.arguments), keys=False))
    return [leaf for leaf in leaves if isinstance(leaf, str | int) and not isinstance(leaf, bool)]


def _repeated(calls: Sequence[Invocation]) -> list[str | int]:
    times = Counter(values_given(calls))
    return sorted((each for each in times if times[each] > 1), key=lambda each: (-len(str(each)), str(each)))


def _with(calls: Sequence[Invocation], old: str | int, new: str | int) -> tuple[Invocation, ...]:
    return tuple(
        replace(call, arguments=json.dumps(replaced(json.loads(call.arguments), {old: new})))
        for call in calls
    )


def replaced(value: Any, new: Mapping[str | int, str | int]) -> Any:
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
