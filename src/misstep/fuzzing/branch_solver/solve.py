"""Finds arguments that pass the tests seen in a call, or that break the code behind them.

For every observed operation, values are proposed for the part that was tested and put back into the argument.
They are then adjusted so that tests which the old value had passed (`Gate`) still pass.
"""

import json
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from misstep.core.rng import Dice
from misstep.core.tool import Observation, Path
from misstep.fuzzing.branch_solver import comparing, parsing
from misstep.fuzzing.branch_solver.comparing import QUESTIONS
from misstep.fuzzing.branch_solver.inverses import MISSING, Step, replaced, seen
from misstep.fuzzing.branch_solver.regex import compiled, is_quick
from misstep.fuzzing.branch_solver.sight import BREAKS, FAR, BranchGoal, Sight

Goals = Callable[[Sight], Iterator[BranchGoal]]

_KINDS: dict[str, Goals] = {**comparing.COMPARING, **parsing.TAKING_APART, **parsing.PARSING}


def goals(sight: Sight) -> list[BranchGoal]:
    """Values to try instead; empty if the operation is unknown.

    Observations come from the process that runs the code under test, so they may be anything.
    """
    make = _KINDS.get(sight.operation)
    try:
        return list(make(sight)) if make else []
    except (TypeError, ValueError, AttributeError, KeyError, IndexError, OverflowError):
        return []


def guesses(value: Any) -> Iterator[BranchGoal]:
    """Values to try without an observation: if a text looks like a number, other numbers."""
    if not isinstance(value, str) or len(value) > 40:
        return
    try:
        float(value)
    except ValueError:
        return
    for text in parsing.NUMBERS:
        yield BranchGoal(FAR, text, f"the text reads like a number: {text!r}")


ROUNDS = 2  # passes over all gates, since passing one may fail another
MOST_WAYS = 12  # values to try for one gate

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
    """A test of the part that these steps extract from a value, and the outcome it must have."""

    via: Sequence[Step]
    sight: Sight
    outcome: bool

    def lets_through(self, value: Any) -> bool:
        now = seen(value, self.via)
        return now is not MISSING and holds(self.sight.operation, self.sight.operand, now) is self.outcome


def with_passes_kept(value: Any, gates: Sequence[Gate]) -> Any:
    """The value, changed to pass as many of these gates as possible."""
    for _ in range(ROUNDS):
        closed = [gate for gate in gates if not gate.lets_through(value)]
        if not closed:
            break
        for gate in closed:
            if not gate.lets_through(value):
                value = max([value, *_ways(value, gate)], key=lambda each: _merit(each, gate, gates))
    return value


def _ways(value: Any, gate: Gate) -> Iterator[Any]:
    """Variants of the value that may pass a gate which it fails."""
    now = seen(value, gate.via)
    for goal in goals(gate.sight._replace(passed=not gate.outcome, now=now))[:MOST_WAYS]:
        changed = replaced(value, gate.via, goal.value)
        if changed is not MISSING:
            yield changed


def _merit(value: Any, gate: Gate, gates: Sequence[Gate]) -> tuple[bool, int]:
    return gate.lets_through(value), sum(each.lets_through(value) for each in gates)


def holds(operation: str, operand: Any, now: Any) -> bool | None:
    """Whether a test is true for a value; None if that is unknown."""
    test = _TESTS.get(operation)
    if test is None:
        return None
    try:
        return now is not MISSING and bool(test(now, operand))
    except (TypeError, AttributeError, ValueError, LookupError):
        return False


MOST = 300
LONGEST = 20_000  # characters of JSON
MOST_GATES = 24  # gates of one argument that a new value has to pass
TAKEN_APART = 10_000  # characters to parse for all gates together, so long texts have fewer gates
UNLIKELY = 4  # penalty for changing an argument's type, or which arguments are given

Matching = Callable[[str], str | None]


class Opening(msgspec.Struct, frozen=True):
    """A value for a place in the arguments, and why it is worth trying. It must not be modified."""

    path: Path
    value: Any
    why: str


class Way(NamedTuple):
    """The gates passed before this one, and whether this was the last operation observed."""

    before: Sequence[Gate]
    ends: bool


def openings(
    arguments: dict[str, Any],
    observations: Iterable[Observation],
    dice: Dice,
    matching: Matching | None = None,
) -> list[Opening]:
    """What to try after a call with these arguments and observations, most promising first.

    First come values that pass a failed test, the latest test first; then values that pass and probably break
    the code behind; then unlikely ones. `matching` generates texts for regular expressions that this package
    cannot handle.
    """
    found: dict[tuple[Path, str], tuple[tuple[int, int, int], Opening]] = {}
    for number, (path, goal) in enumerate(_all_goals(arguments, list(observations), dice, matching)):
        value = json.dumps(goal.value, sort_keys=True)
        opening = Opening(path, goal.value, goal.why)
        key = (path, value)
        rank = (goal.rank, -goal.late, number)
        if len(value) <= LONGEST and (key not in found or rank < found[key][0]):
            found[key] = (rank, opening)
    ranked = sorted(found.values(), key=lambda pair: pair[0])
    return [opening for _, opening in ranked[:MOST]]


def opened(arguments: dict[str, Any], opening: Opening) -> dict[str, Any]:
    """A copy of the arguments with the opening's value at its place."""
    made: dict[str, Any] = _with(arguments, opening.path, opening.value)
    return made


def _all_goals(
    arguments: dict[str, Any], observations: Sequence[Observation], dice: Dice, matching: Matching | None
) -> Iterator[tuple[Path, BranchGoal]]:
    passed: dict[Path, list[Gate]] = {}
    for late, observation in enumerate(observations):
        whole = _at(arguments, observation.path)
        sight = _sight(observation, whole, dice, matching)
        is_missing_item = whole is MISSING and any([isinstance(part, int) for part in observation.path])
        if sight is None or is_missing_item:
            continue
        before = passed.setdefault(observation.path, [])
        is_last = late == len(observations) - 1
        for goal in goals(sight):
            yield from _lifted(observation, whole, goal._replace(late=late), sight, Way(before, is_last))
        gate = Gate(observation.via, sight, bool(observation.outcome))
        if observation.outcome is not None and _has_room(before, whole) and gate.lets_through(whole):
            before.append(gate)
    for path, value in _leaves(arguments, ()):
        for goal in guesses(value):
            yield path, goal


def _has_room(gates: Sequence[Gate], whole: Any) -> bool:
    length = len(whole) if isinstance(whole, str) else 1
    return len(gates) < MOST_GATES and len(gates) * length < TAKEN_APART


def _sight(observation: Observation, whole: Any, dice: Dice, matching: Matching | None) -> Sight | None:
    try:
        operand = json.loads(observation.operand)
    except ValueError:
        return None
    now = seen(whole, observation.via)
    return Sight(observation.operation, operand, observation.outcome, now, dice, matching)


def _lifted(
    observation: Observation, whole: Any, goal: BranchGoal, sight: Sight, way: Way
) -> Iterator[tuple[Path, BranchGoal]]:
    """Turn a wish for a part into wishes for the whole argument.

    The first one still passes the gates before this one, the second one ignores them.
    """
    value = replaced(whole, observation.via, goal.value)
    if value is MISSING:
        return
    other = Gate(observation.via, sight, not observation.outcome)
    turns = observation.outcome is not None and other.lets_through(value)
    kept = with_passes_kept(value, [*way.before, other] if turns else way.before)
    for made, later in ((kept, 0), (value, 2)):
        if _is_json(made) and not (made == whole and type(made) is type(whole)):
            changes_kind = whole is not MISSING and _kind(made) is not _kind(whole)
            is_unlikely = not observation.path or (changes_kind and len(observation.path) == 1)
            rank = min(goal.rank, BREAKS) if turns and way.ends else goal.rank
            yield observation.path, goal._replace(rank=rank + later + UNLIKELY * is_unlikely, value=made)


def _kind(value: Any) -> type:
    return float if type(value) is int else type(value)


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _at(value: Any, path: Path) -> Any:
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return value


def _with(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    if isinstance(path[0], str):
        inner = value if isinstance(value, dict) else {}
        return {**inner, path[0]: _with(inner.get(path[0]), path[1:], new)}
    items = list(value) if isinstance(value, list) else []
    items += [None] * (path[0] + 1 - len(items))
    items[path[0]] = _with(items[path[0]], path[1:], new)
    return items


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value[:10]):
            yield from _leaves(item, (*path, place))
    else:
        yield path, value
