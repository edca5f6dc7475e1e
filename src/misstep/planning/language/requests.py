"""The text of requests around a paragraph, of mock tools and of their results (`data/requests.toml`)."""

import json
import re
from collections.abc import Sequence
from functools import cache
from string import Formatter

import msgspec

from misstep.core.case import World
from misstep.core.constraint import (
    Adjacent,
    Before,
    Choice,
    Condition,
    Constraint,
    Given,
    Handover,
    Repeat,
    StandIn,
)
from misstep.planning.language.lexicon import Topic, read_data

_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def clock(minutes: int) -> str:
    """A time of day from the minutes since midnight: `09:30`."""
    return f"{minutes // 60:02}:{minutes % 60:02}"


def in_hours(minutes: int) -> str:
    """A duration: `45 minutes`, `1 hour`, `2 hours and 30 minutes`."""
    hours, rest = divmod(minutes, 60)
    parts = [_counted(hours, "hour")] if hours else []
    return " and ".join([*parts, _counted(rest, "minute")] if rest or not hours else parts)


def euros(amount: int) -> str:
    return _counted(amount, "euro")


def in_words(number: int) -> str:
    """A number as a word (`three`), or in digits from thirteen on."""
    return _WORDS[number - 1] if 1 <= number <= len(_WORDS) else str(number)


def how_often(times: int) -> str:
    return {1: "once", 2: "twice"}.get(times, f"{in_words(times)} times")


def literal(value: str | int) -> str:
    """A value as it has to be passed on; quotes show where a text ends."""
    return json.dumps(value, ensure_ascii=False)


def listed(items: Sequence[str]) -> str:
    """`A`, `A and B`, `A, B and C`."""
    *others, last = items
    return f"{', '.join(others)} and {last}" if others else last


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else noun + 's'}"


class RequestTemplate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The request for a problem with ordering constraints only, and for one with rules."""

    text: str
    ruled: str


class Requests(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tools: dict[str, str]
    parameters: dict[str, str]
    templates: dict[str, RequestTemplate]
    rules: dict[str, str]
    results: dict[str, str]


@cache
def load_requests() -> Requests:
    return msgspec.convert(read_data("requests.toml"), Requests)


def write_request(template: str, topic: Topic, sentences: Sequence[str], rules: Sequence[str] = ()) -> str:
    """The whole request; the rules, if any, are a separate list."""
    texts = load_requests().templates[template]
    text, listing = texts.ruled if rules else texts.text, "\n".join([f"- {rule}" for rule in rules])
    paragraph = " ".join(sentences)
    return text.strip().format(role=topic.role, job=topic.name, paragraph=paragraph, rules=listing)


def write_rules(
    constraints: Sequence[Constraint], world: World, distractors: int, own_tools: bool = False
) -> tuple[str, ...]:
    """The rules that the request states beside its sentences; empty if it has ordering constraints only.

    `own_tools` says that the tools are the user's, with parameters of their own.
    """
    kinds = {type(constraint) for constraint in constraints}
    own = own_tools or Given in kinds
    if kinds <= {Before} and world == World() and not distractors and not own:
        return ()
    givers = {constraint.giver for constraint in constraints if isinstance(constraint, Handover)}
    repeated = [constraint.action for constraint in constraints if isinstance(constraint, Repeat)]
    takes_something = own or Handover in kinds or world.day is not None or bool(world.costs)
    applying = {
        "once": True,
        "order": Before in kinds,
        "adjacent": Adjacent in kinds,
        "repeat": Repeat in kinds,
        "choice": Choice in kinds,
        "condition": Condition in kinds,
        "optional": bool(kinds & {Choice, Condition}),
        "stand_in": StandIn in kinds,
        "own_arguments": own and StandIn in kinds,
        "data": Handover in kinds,
        "data_again": not givers.isdisjoint(repeated),
        "time": world.day is not None,
        "budget": bool(world.costs),
        "retry": world.retries > 0,
        "announce": bool(world.announcements),
        "over": world.attempts > 1,
        "refused": world.attempts == 1 and takes_something,
        "distractors": distractors > 0,
        "arguments": own,
        "no_arguments": not own and world.day is None and Handover not in kinds,
    }
    begin, end = world.day or (0, 0)
    figures = {
        "begin": clock(begin),
        "end": clock(end),
        "attempts": in_words(world.attempts),
        "times": how_often(world.attempts - 1),
        "retries": how_often(world.retries),
    }
    rules = load_requests().rules
    return tuple([rules[name].format(**figures) for name, applies in applying.items() if applies])


def tool_name(activity: str) -> str:
    """A name that every provider's rules for tool names accept."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", activity.strip())[:64]


def describe(activity: str, parameters: Sequence[str] = ()) -> str:
    """The description of a tool with these parameters."""
    words = load_requests().tools
    named = listed([f"`{parameter}`" for parameter in parameters]) if parameters else ""
    return words["with_arguments" if named else "description"].format(name=activity, parameters=named)


def describe_parameter(name: str) -> str:
    """The description of a parameter: `start_time`, `task`, or the name of a value that is passed on."""
    words = load_requests().parameters
    return words[name if name in ("start_time", "task") else "value"].format(value=name.replace("_", " "))


def say(key: str, **slots: object) -> str:
    """The text with this key; slots are filled in as they are, so the caller formats numbers.

    Raises `KeyError` for an unknown key, or if the slots don't match the text.
    """
    text = load_requests().results[key]
    if slots.keys() != _slots(text):
        raise KeyError(f"{key} has the slots {sorted(_slots(text))}, not {sorted(slots)}")
    return text.format(**slots)


@cache
def _slots(text: str) -> frozenset[str]:
    return frozenset(name for _, name, _, _ in Formatter().parse(text) if name is not None)
