"""Measures how simple calls are, and lists the simplest values that a schema allows."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from misstep.core.tool import Invocation
from misstep.schemas.limits import is_number
from misstep.schemas.schema import fits
from misstep.schemas.shape import mapping, names_in, resolve

DEEPEST = 6
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
        return
    if depth > DEEPEST:
        return
    for value in _guesses(schema, root, depth):
        if fits(schema, value, root) is None:
            yield value


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
            yield _smallest_object(schema, root, depth)


def _smallest_object(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    known = mapping(schema.get("properties"))
    return {name: simplest(known.get(name, {}), root, depth + 1) for name in names_in(schema.get("required"))}


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
    for leaf in _leaves(values):
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
    """The integers in a text."""
    return _NUMBER.finditer(text, 0, READ)


def _leaves(values: list[Any]) -> list[str | int | float]:
    found, waiting = list[str | int | float](), list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
            found.extend(value)
        elif isinstance(value, list):
            waiting.extend(value)
        elif value is not None:
            found.append(value)
    return found
