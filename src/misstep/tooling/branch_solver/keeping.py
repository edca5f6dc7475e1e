"""Brings a new value past the gates that the old one had passed."""

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from misstep.tooling.branch_solver.comparing import QUESTIONS
from misstep.tooling.branch_solver.goals import wishes
from misstep.tooling.branch_solver.inverses import MISSING, Step, replaced, seen
from misstep.tooling.branch_solver.regex import compiled, is_quick
from misstep.tooling.branch_solver.sight import Sight

ROUNDS = 2  # in which gates are seen to, since what opens one may close another
MOST_WAYS = 12  # to get past one gate

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


def _is_in(now: Any, operand: Any) -> bool:
    return operand in now


def _answers(name: str) -> Callable[[str, Any], bool]:
    return lambda now, _: bool(getattr(str, name)(now))


_TESTS: dict[str, Callable[[Any, Any], Any]] = {
    **_SIGNS,
    "startswith": _begins,
    "endswith": _ends,
    **dict.fromkeys(("contains", "partition", "rpartition", "split", "rsplit", "find", "index"), _is_in),
    **{name: _answers(name) for name in QUESTIONS},
    "truth": lambda now, _: bool(now),
    "has key": lambda now, operand: operand in now,
    "key of": lambda now, operand: now in operand,
    "len": lambda now, operand: _SIGNS[operand[0]](len(now), operand[1]),
    "unpack": lambda now, operand: len(now) == operand,
    "match": _matches("match"),
    "search": _matches("search"),
    "fullmatch": _matches("fullmatch"),
}


class Gate(NamedTuple):
    """A test of what the code makes out of a value in these steps, and how it is to come out."""

    via: Sequence[Step]
    sight: Sight
    outcome: bool

    def lets_through(self, value: Any) -> bool:
        now = seen(value, self.via)
        return now is not MISSING and holds(self.sight.operation, self.sight.operand, now) is self.outcome


def with_passes_kept(value: Any, gates: Sequence[Gate]) -> Any:
    """The value made to get through all of these gates, as far as that goes."""
    for _ in range(ROUNDS):
        closed = [gate for gate in gates if not gate.lets_through(value)]
        if not closed:
            break
        for gate in closed:
            if not gate.lets_through(value):
                value = max([value, *_ways(value, gate)], key=lambda each: _merit(each, gate, gates))
    return value


def _ways(value: Any, gate: Gate) -> Iterator[Any]:
    """Values like this one that may get through a gate at which it does not."""
    now = seen(value, gate.via)
    for wish in wishes(gate.sight._replace(passed=not gate.outcome, now=now))[:MOST_WAYS]:
        changed = replaced(value, gate.via, wish.value)
        if changed is not MISSING:
            yield changed


def _merit(value: Any, gate: Gate, gates: Sequence[Gate]) -> tuple[bool, int]:
    return gate.lets_through(value), sum(each.lets_through(value) for each in gates)


def holds(operation: str, operand: Any, now: Any) -> bool | None:
    """Whether a test comes out true of a value; None where that can't be said."""
    test = _TESTS.get(operation)
    if test is None:
        return None
    try:
        return now is not MISSING and bool(test(now, operand))
    except (TypeError, AttributeError, ValueError, LookupError):
        return False
