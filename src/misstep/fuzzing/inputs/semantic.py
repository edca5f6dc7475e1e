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


class LongText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A long text in compact form."""

    repeat: str
    times: int
    before: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        return f"{self.before}{self.repeat * self.times}{self.after}"


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
    return msgspec.convert(
        [_spelt(each) for each in tomllib.loads(text)["topic"]], tuple[ParameterTopic, ...]
    )


def _spelt(topic: Mapping[str, Any]) -> dict[str, Any]:
    """The topic with its long texts expanded."""
    return {
        key: [msgspec.convert(each, LongText).text if isinstance(each, dict) else each for each in value]
        if isinstance(value, list)
        else value
        for key, value in topic.items()
    }


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
    ends = max((_overlap(words, ending) for ending in _endings(topic)), default=0)
    told = _told(topic)
    return ends or int(told is not None and told.search(description[:LONGEST_TOLD]) is not None)


def _overlap(words: Sequence[str], ending: tuple[str, ...]) -> int:
    """How well the words of a name match a topic: best if the name ends with them."""
    size = len(ending)
    if tuple(words[-size:]) == ending:
        return 100 + size * 10
    inside = any(tuple(words[place : place + size]) == ending for place in range(len(words) - size))
    return 50 + size * 10 if inside else 0


@cache
def _endings(topic: ParameterTopic) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(words_of(name)) for name in topic.names)


@cache
def _told(topic: ParameterTopic) -> re.Pattern[str] | None:
    if not topic.told:
        return None
    words = "|".join(re.escape(word) for word in topic.told)
    return re.compile(rf"(?<!\w)(?:{words})s?(?!\w)", re.IGNORECASE)


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
        yield from (ValueIdea(text, "valid", "harvested") for text in _texts(slot, found))
        yield from (ValueIdea("a" * length, "boundary", "harvested") for length in found.lengths)
    if kinds & {"integer", "number"}:
        yield from (ValueIdea(number, "valid", "harvested") for number in _numbers(slot, found))
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


def _texts(slot: ArgumentSlot, found: SuggestedValues) -> Iterator[str]:
    for text in (*find_texts(slot.description), *found.texts):
        yield text
        if text.endswith(OPEN_ENDS):
            yield from (text + word for word in WORDS)


def _numbers(slot: ArgumentSlot, found: SuggestedValues) -> Iterator[int | float]:
    yield from (number + step for number in find_numbers(slot.description) for step in (0, 1, -1))
    yield from found.neighbours
