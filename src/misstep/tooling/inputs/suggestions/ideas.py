"""Values for a place in a tool's arguments that come from its surroundings rather than its schema."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from misstep.schemas.mentions import find_numbers, find_texts
from misstep.schemas.shape import flatten, kinds_of, listed
from misstep.tooling.inputs.drawn import Kind, Origin
from misstep.tooling.inputs.slots import Slot
from misstep.tooling.inputs.suggestions.harvest import Harvest, values_in
from misstep.tooling.inputs.suggestions.semantic import topics_for

OPEN_ENDS = (":", "/", "=", "#", "-", "_", ".", " ", "(", "[", "{", "?", "&", "@")
WORDS = ("abc", "1")  # that may follow a text which looks like the start of one


class Idea(msgspec.Struct, frozen=True):
    """A value that may fit; `kind` is what it is if it does."""

    value: Any
    kind: Kind
    origin: Origin


def ideas_for(slot: Slot, root: Mapping[str, Any], found: Harvest) -> Iterator[Idea]:
    flat = flatten(slot.schema, root) or {}
    for topic in topics_for(slot.name, slot.description, flat.get("format")):
        yield from (Idea(value, "valid", "semantic") for value in topic.plain)
        yield from (Idea(value, "boundary", "semantic") for value in topic.odd)
    yield from (Idea(value, "valid", "harvested") for value in _named(slot, flat, found))
    kinds = kinds_within(flat, root)
    if "string" in kinds:
        yield from (Idea(text, "valid", "harvested") for text in _texts(slot, found))
        yield from (Idea("a" * length, "boundary", "harvested") for length in found.lengths)
    if kinds & {"integer", "number"}:
        yield from (Idea(number, "valid", "harvested") for number in _numbers(slot, found))
    if "array" in kinds:
        yield from (Idea([None] * length, "boundary", "harvested") for length in found.lengths[:12])


def kinds_within(schema: Mapping[str, Any], root: Mapping[str, Any]) -> set[str]:
    """The types that a value may have, whichever form it takes."""
    forms = [*listed(schema.get("anyOf")), *listed(schema.get("oneOf"))]
    if not forms:
        return set(kinds_of(schema))
    return {kind for form in forms for kind in kinds_of(flatten(form, root) or {})}


def _named(slot: Slot, flat: Mapping[str, Any], found: Harvest) -> Iterator[Any]:
    """What the schema names itself, and what examples have at this place."""
    yield from values_in(flat)
    for example in found.examples:
        value: Any = example
        for step in slot.path:
            if isinstance(value, dict) and step in value:
                value = value[str(step)]
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                break
        else:
            yield value


def _texts(slot: Slot, found: Harvest) -> Iterator[str]:
    for text in (*find_texts(slot.description), *found.texts):
        yield text
        if text.endswith(OPEN_ENDS):
            yield from (text + word for word in WORDS)


def _numbers(slot: Slot, found: Harvest) -> Iterator[int | float]:
    yield from (number + step for number in find_numbers(slot.description) for step in (0, 1, -1))
    yield from found.neighbours
