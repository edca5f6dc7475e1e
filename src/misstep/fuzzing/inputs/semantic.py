"""Chooses values for a parameter by its name, description and format, and by the tool's source."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from misstep.fuzzing.inputs.slots import ArgumentSlot, Kind, Origin
from misstep.fuzzing.inputs.suggestions import SuggestedValues, values_in
from misstep.schemas.samples import find_numbers, find_texts, words_of
from misstep.schemas.shape import as_list, flatten, kinds_of

LONGEST_TOLD = 400  # characters of a description; the first sentences say what a parameter is
MOST_TOPICS = 3


class ParameterTopic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subject of parameters. `names` are endings of their names, `told` words in descriptions.

    `plain` values are ordinary ones, `odd` ones unusual.
    """

    name: str
    names: tuple[str, ...]
    told: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    plain: tuple[Any, ...] = ()
    odd: tuple[Any, ...] = ()


@cache
def load_topics() -> tuple[ParameterTopic, ...]:
    text = resources.files(__package__).joinpath("data/semantic.toml").read_text(encoding="utf-8")
    topics = tomllib.loads(text)["topic"]
    for topic in topics:
        for key in ("plain", "odd"):
            topic[key] = [_long(**each) if isinstance(each, dict) else each for each in topic.get(key, ())]
    return msgspec.convert(topics, tuple[ParameterTopic, ...])


def _long(repeat: str, times: int, before: str = "", after: str = "") -> str:
    """A long text, which the file has in compact form."""
    return f"{before}{repeat * times}{after}"


def topics_for(name: str, description: str = "", form: object = None) -> list[ParameterTopic]:
    """The topics of a parameter, likeliest first: by its format, else its name, else its description."""
    ranked = [(_likeness(topic, name, description, form), topic) for topic in load_topics()]
    ranked = sorted((each for each in ranked if each[0] > 0), key=lambda each: -each[0])
    return [topic for _, topic in ranked[:MOST_TOPICS]]


def values_for_format(name: str) -> tuple[str, ...]:
    """Texts of the topic that the format belongs to; not all of them need to match the format."""
    return tuple(
        value
        for topic in load_topics()
        if name in topic.formats
        for value in (*topic.plain, *topic.odd)
        if isinstance(value, str)
    )


def _likeness(topic: ParameterTopic, name: str, description: str, form: object) -> int:
    if form in topic.formats:
        return 1000
    words = words_of(name)
    endings, told = _forms(topic)
    ends = max((_overlap(words, ending) for ending in endings), default=0)
    return ends or int(told is not None and told.search(description[:LONGEST_TOLD]) is not None)


def _overlap(words: Sequence[str], ending: tuple[str, ...]) -> int:
    """How well the words of a name match a topic: best if the name ends with them."""
    size = len(ending)
    if tuple(words[-size:]) == ending:
        return 100 + size * 10
    inside = any(tuple(words[place : place + size]) == ending for place in range(len(words) - size))
    return 50 + size * 10 if inside else 0


@cache
def _forms(topic: ParameterTopic) -> tuple[list[tuple[str, ...]], re.Pattern[str] | None]:
    """The words of each ending of names, and a pattern for the words in descriptions."""
    endings = [tuple(words_of(name)) for name in topic.names]
    words = "|".join(re.escape(word) for word in topic.told)
    return endings, re.compile(rf"(?<!\w)(?:{words})s?(?!\w)", re.IGNORECASE) if words else None


OPEN_ENDS = (":", "/", "=", "#", "-", "_", ".", " ", "(", "[", "{", "?", "&", "@")
WORDS = ("abc", "1")  # words appended to a text that looks like a prefix


class ValueIdea(msgspec.Struct, frozen=True):
    """A value that may fit; `kind` applies if it does."""

    value: Any
    kind: Kind
    origin: Origin


def ideas_for(slot: ArgumentSlot, root: Mapping[str, Any], found: SuggestedValues) -> Iterator[ValueIdea]:
    flat = flatten(slot.schema, root) or {}
    for topic in topics_for(slot.name, slot.description, flat.get("format")):
        yield from (ValueIdea(value, "valid", "semantic") for value in topic.plain)
        yield from (ValueIdea(value, "boundary", "semantic") for value in topic.odd)
    yield from (ValueIdea(value, "valid", "harvested") for value in _named(slot, flat, found))
    kinds = kinds_within(flat, root)
    if "string" in kinds:
        for text in (*find_texts(slot.description), *found.texts):
            yield ValueIdea(text, "valid", "harvested")
            if text.endswith(OPEN_ENDS):
                yield from (ValueIdea(text + word, "valid", "harvested") for word in WORDS)
        yield from (ValueIdea("a" * length, "boundary", "harvested") for length in found.lengths)
    if kinds & {"integer", "number"}:
        told = [number + step for number in find_numbers(slot.description) for step in (0, 1, -1)]
        yield from (ValueIdea(number, "valid", "harvested") for number in (*told, *found.neighbours))
    if "array" in kinds:
        yield from (ValueIdea([None] * length, "boundary", "harvested") for length in found.lengths[:12])


def kinds_within(schema: Mapping[str, Any], root: Mapping[str, Any]) -> set[str]:
    """The types that a value may have in any of its alternatives."""
    forms = [*as_list(schema.get("anyOf")), *as_list(schema.get("oneOf"))]
    if not forms:
        return set(kinds_of(schema))
    return {kind for form in forms for kind in kinds_of(flatten(form, root) or {})}


def _named(slot: ArgumentSlot, flat: Mapping[str, Any], found: SuggestedValues) -> Iterator[Any]:
    """Values that the schema lists, and values of the examples at this place."""
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
