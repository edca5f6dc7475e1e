"""Which of two ways to show a defect is the simpler one."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from misstep.core.tool import Invocation

# Whether arguments fit the schema of the tool that a call is for.
Fits: TypeAlias = Callable[[str, dict[str, Any]], bool]

# Calls, those that don't fit, odd characters, length, plainness of characters, size of numbers, the text.
Measure: TypeAlias = tuple[int, int, int, int, int, float, str]

HUGE = 1e18
READ = 4_000  # characters of a text in which there may be numbers

_NUMBER = re.compile("(?<![0-9])[0-9]{1,40}(?![0-9])")  # what is longer is a text like any other


def measure(calls: Sequence[Invocation], fits: Fits) -> Measure:
    """The smaller the simpler: fewer calls, arguments that fit, text that can be printed, less of all."""
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
    """Nought for the plainest letter, then digits, whose number counts, then whatever else is easily read."""
    if character == "a":
        return 0
    if character.isascii():
        return 1 if character.isdigit() else 2 if character.isalpha() else 3 if character.isprintable() else 5
    return 4 if character.isprintable() else 6


def numbers_in(text: str) -> Iterator[re.Match[str]]:
    """Where whole numbers stand in a text."""
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
