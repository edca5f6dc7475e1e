"""Brings a new value past the gates that the old one had passed."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

from misstep.core.tool import Observation
from misstep.tooling.gates.lenses import MISSING, replaced, seen
from misstep.tooling.gates.regex import compiled, is_quick
from misstep.tooling.gates.sight import PASSES, Sight
from misstep.tooling.gates.wishes import wishes

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _begins(now: str, operand: Any) -> bool:
    return now.startswith(tuple(operand) if isinstance(operand, list) else operand)


def _ends(now: str, operand: Any) -> bool:
    return now.endswith(tuple(operand) if isinstance(operand, list) else operand)


def _matches(how: str) -> Callable[[str, Any], bool]:
    def test(now: str, operand: Any) -> bool:
        return is_quick(operand[0], now) and bool(getattr(compiled(*operand), how)(now))

    return test


_TESTS: dict[str, Callable[[Any, Any], Any]] = {
    **_SIGNS,
    "startswith": _begins,
    "endswith": _ends,
    "contains": lambda now, operand: operand in now,
    "partition": lambda now, operand: operand in now,
    "split": lambda now, operand: operand in now,
    "has key": lambda now, operand: operand in now,
    "key of": lambda now, operand: now in operand,
    "len": lambda now, operand: _SIGNS[operand[0]](len(now), operand[1]),
    "unpack": lambda now, operand: len(now) == operand,
    "match": _matches("match"),
    "search": _matches("search"),
    "fullmatch": _matches("fullmatch"),
}


def with_passes_kept(value: Any, passed: Sequence[tuple[Observation, Sight]]) -> Any:
    """The value made to do what the old one did at each of these gates, as far as that goes."""
    for observation, sight in passed:
        now = seen(value, observation.via)
        if holds(observation.operation, sight.operand, now) is not False:
            continue
        ways = [wish for wish in wishes(sight._replace(passed=False, now=now)) if wish.rank == PASSES]
        changed = replaced(value, observation.via, ways[0].value) if ways else MISSING
        value = value if changed is MISSING else changed
    return value


def holds(operation: str, operand: Any, now: Any) -> bool | None:
    """Whether a test comes out true of a value; None where that can't be said."""
    test = _TESTS.get(operation)
    if test is None:
        return None
    try:
        return now is not MISSING and bool(test(now, operand))
    except (TypeError, AttributeError, ValueError, LookupError):
        return False
