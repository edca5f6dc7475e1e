"""Values that suit the name, the description and the format of a parameter."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from misstep.schemas.samples import words_of

LONGEST_TOLD = 400  # characters of a description; what a parameter is gets said early
MOST_TOPICS = 3


class Repeated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A long text, told in short."""

    repeat: str
    times: int
    before: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        return f"{self.before}{self.repeat * self.times}{self.after}"


class Topic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that parameters are about. `names` are ends of their names, `told` words of descriptions.

    `plain` values are what anybody would give, `odd` ones what somebody might.
    """

    name: str
    names: tuple[str, ...]
    told: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    plain: tuple[Any, ...] = ()
    odd: tuple[Any, ...] = ()


@cache
def load_topics() -> tuple[Topic, ...]:
    text = resources.files(__package__).joinpath("data/semantic.toml").read_text(encoding="utf-8")
    return msgspec.convert([_spelt(each) for each in tomllib.loads(text)["topic"]], tuple[Topic, ...])


def _spelt(topic: Mapping[str, Any]) -> dict[str, Any]:
    """The topic with its long texts written out."""
    return {
        key: [msgspec.convert(each, Repeated).text if isinstance(each, dict) else each for each in value]
        if isinstance(value, list)
        else value
        for key, value in topic.items()
    }


def topics_for(name: str, description: str = "", form: object = None) -> list[Topic]:
    """What a parameter is about, the likeliest first: its format says, else its name, else what is told."""
    ranked = [(_likeness(topic, name, description, form), topic) for topic in load_topics()]
    ranked = sorted((each for each in ranked if each[0] > 0), key=lambda each: -each[0])
    return [topic for _, topic in ranked[:MOST_TOPICS]]


def values_for_format(name: str) -> tuple[str, ...]:
    """Texts of the topic that the format belongs to; not all of them need to have it."""
    return tuple(
        value
        for topic in load_topics()
        if name in topic.formats
        for value in (*topic.plain, *topic.odd)
        if isinstance(value, str)
    )


def _likeness(topic: Topic, name: str, description: str, form: object) -> int:
    if form in topic.formats:
        return 1000
    words = words_of(name)
    ends = max((_overlap(words, ending) for ending in _endings(topic)), default=0)
    told = _told(topic)
    return ends or int(told is not None and told.search(description[:LONGEST_TOLD]) is not None)


def _overlap(words: Sequence[str], ending: tuple[str, ...]) -> int:
    """How well the words of a name go with those of a topic: best where they end with them."""
    size = len(ending)
    if tuple(words[-size:]) == ending:
        return 100 + size * 10
    inside = any(tuple(words[place : place + size]) == ending for place in range(len(words) - size))
    return 50 + size * 10 if inside else 0


@cache
def _endings(topic: Topic) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(words_of(name)) for name in topic.names)


@cache
def _told(topic: Topic) -> re.Pattern[str] | None:
    if not topic.told:
        return None
    words = "|".join(re.escape(word) for word in topic.told)
    return re.compile(rf"(?<!\w)(?:{words})s?(?!\w)", re.IGNORECASE)
