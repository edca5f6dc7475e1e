"""The request around a paragraph and the words of the mock tools, read from `data/requests.toml`."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources

import msgspec

from misstep.planning.language.topics import Topic


class Template(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str


class ToolWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    description: str
    result: str


class Requests(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tools: ToolWords
    templates: dict[str, Template]


@cache
def load_requests() -> Requests:
    text = resources.files(__package__).joinpath("data/requests.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Requests)


def write_request(template: str, topic: Topic, sentences: Sequence[str]) -> str:
    text = load_requests().templates[template].text.strip()
    return text.format(role=topic.role, job=topic.name, paragraph=" ".join(sentences))


def tool_name(activity: str) -> str:
    """A name that every provider's rules for tool names accept."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", activity.strip())[:64]


def describe(activity: str) -> str:
    return load_requests().tools.description.format(name=activity)


def report_success(activity: str) -> str:
    return load_requests().tools.result.format(name=activity)
