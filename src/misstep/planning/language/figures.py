"""Formats times, amounts, numbers and lists for requests and results."""

import json
from collections.abc import Sequence

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
