"""What to wish for, by what the code did."""

from collections.abc import Callable, Iterator
from typing import Any

from misstep.tooling.branch_solver import comparing, parsing, taking_apart
from misstep.tooling.branch_solver.sight import FAR, Sight, Wish

Wishes = Callable[[Sight], Iterator[Wish]]

_KINDS: dict[str, Wishes] = {**comparing.WISHES, **taking_apart.WISHES, **parsing.WISHES}


def wishes(sight: Sight) -> list[Wish]:
    """Values to have there instead; none where nothing is known about the operation.

    Observations come out of a process that the code under test shares, and may be anything.
    """
    make = _KINDS.get(sight.operation)
    try:
        return list(make(sight)) if make else []
    except (TypeError, ValueError, AttributeError, KeyError, IndexError, OverflowError):
        return []


def guesses(value: Any) -> Iterator[Wish]:
    """What to try without having seen anything: a text that reads like a number is taken for one."""
    if not isinstance(value, str) or len(value) > 40:
        return
    try:
        float(value)
    except ValueError:
        return
    for text in parsing.NUMBERS:
        yield Wish(FAR, text, f"the text reads like a number: {text!r}")
