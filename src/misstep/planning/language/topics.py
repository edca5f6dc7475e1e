"""The jobs that problems are set in, each with its activities, read from `data/topics.toml`."""

import tomllib
from functools import cache
from importlib import resources

import msgspec


class Topic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A job; every activity is a singular noun phrase that takes "the"."""

    name: str
    role: str
    activities: tuple[str, ...]


@cache
def load_topics() -> dict[str, Topic]:
    text = resources.files(__package__).joinpath("data/topics.toml").read_text(encoding="utf-8")
    topics = msgspec.convert(tomllib.loads(text)["topic"], list[Topic])
    return {topic.name: topic for topic in topics}
