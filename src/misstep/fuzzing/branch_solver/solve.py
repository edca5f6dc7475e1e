"""Finds arguments that pass the tests seen in a call, or that break the code behind them.

For every observed operation, values are proposed for the part that was tested and put back into the argument.
They are then adjusted so that tests which the old value had passed (`Gate`) still pass.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import eq, ge, gt, le, lt, ne
from typing import Any, NamedTuple

from misstep.core.rng import Dice
from misstep.core.tool import Observation, Path
from misstep.fuzzing.branch_solver.goals import BREAKS, FAR, GOALS, NUMBERS, QUESTIONS, BranchGoal, Sight
from misstep.fuzzing.branch_solver.inverses import MISSING, Step, replaced, seen
from misstep.fuzzing.branch_solver.regex import compiled, is_quick


def goals(sight: Sight) -> list[BranchGoal]:
    """Values to try instead; empty if the operation is unknown.

    Observations come from the process that runs the code under test, so they may be anything.
    """
    make = GOALS.get(sight.operation)
    try:
        return list(make(sight)) if make else []
    except (TypeError, ValueError, AttributeError, KeyError, IndexError, OverflowError):
        return []


def guesses(value: Any) -> tuple[str, ...]:
    """Values to try without an observation: if a text looks like a number, other numbers."""
    if not isinstance(value, str) or len(value) > 40:
        return ()
    try:
        float(value)
    except ValueError:
        return ()
    return NUMBERS


ROUNDS = 2  # passes over all gates, since passing one may fail another
MOST_WAYS = 12  # values to try for one gate

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}

_CONTAINING = ("contains", "partition", "rpartition", "split", "rsplit", "find", "index", "has key")


def _texts(operand: Any) -> Any:
    """One or several texts, in the form that `startswith` takes."""
    return tuple(operand) if isinstance(operand, list) else operand


def _matches(how: str, now: str, operand: Any) -> bool:
    return is_quick(operand[0], now) and bool(getattr(compiled(*operand), how)(now))


def _answers(name: str, now: str, _operand: Any) -> bool:
    return bool(getattr(str, name)(now))


_TESTS: dict[str, Callable[[Any, Any], Any]] = {
    **_SIGNS,
    "startswith": lambda now, operand: now.startswith(_texts(operand)),
    "endswith": lambda now, operand: now.endswith(_texts(operand)),
    **dict.fromkeys(_CONTAINING, lambda now, operand: operand in now),
    **{name: partial(_answers, name) for name in QUESTIONS},
    "truth": lambda now, _: bool(now),
    "key of": lambda now, operand: now in operand,
    "len": lambda now, operand: _SIGNS[operand[0]](len(now), operand[1]),
    "unpack": lambda now, operand: len(now) == operand,
    **{how: partial(_matches, how) for how in ("match", "search", "fullmatch")},
}


class Gate(NamedTuple):
    """A test of the part that these steps extract from a value, and the outcome it must have."""

    via: Sequence[Step]
    sight: Sight
    outcome: bool

    def lets_through(self, value: Any) -> bool:
        now, test = seen(value, self.via), _TESTS.get(self.sight.operation)
        if now is MISSING or test is None:
            return False
        try:
            return bool(test(now, self.sight.operand)) is self.outcome
        except (TypeError, AttributeError, ValueError, LookupError):
            return self.outcome is False


def with_passes_kept(value: Any, gates: Sequence[Gate]) -> Any:
    """The value, changed to pass as many of these gates as possible."""
    for _ in range(ROUNDS):
        closed = [gate for gate in gates if not gate.lets_through(value)]
        if not closed:
            break
        for gate in closed:
            if not gate.lets_through(value):
                value = max([value, *_ways(value, gate)], key=partial(_merit, gate, gates))
    return value


def _ways(value: Any, gate: Gate) -> Iterator[Any]:
    """Variants of the value that may pass a gate which it fails."""
    now = seen(value, gate.via)
    for _, part in goals(gate.sight._replace(passed=not gate.outcome, now=now))[:MOST_WAYS]:
        changed = replaced(value, gate.via, part)
        if changed is not MISSING:
            yield changed


def _merit(gate: Gate, gates: Sequence[Gate], value: Any) -> tuple[bool, int]:
    return gate.lets_through(value), sum(each.lets_through(value) for each in gates)


MOST = 300
LONGEST = 20_000  # characters of JSON
MOST_GATES = 24  # gates of one argument that a new value has to pass
TAKEN_APART = 10_000  # characters to parse for all gates together, so long texts have fewer gates
UNLIKELY = 4  # penalty for changing an argument's type, or which arguments are given


class Opening(NamedTuple):
    """A value for a place in the arguments. It must not be modified."""

    path: Path
    value: Any


def openings(arguments: dict[str, Any], observations: Iterable[Observation], dice: Dice) -> list[Opening]:
    """What to try after a call with these arguments and observations, most promising first.

    First come values that pass a failed test, the latest test first; then values that pass and probably break
    the code behind; then unlikely ones.
    """
    found = dict[tuple[Path, str], tuple[tuple[int, int, int], Opening]]()
    for number, (rank, late, opening) in enumerate(_all_openings(arguments, list(observations), dice)):
        text = _as_json(opening.value)
        if text is not None and len(text) <= LONGEST:
            key, order = (opening.path, text), (rank, -late, number)
            if key not in found or order < found[key][0]:
                found[key] = (order, opening)
    ranked = sorted(found.values(), key=lambda pair: pair[0])
    return [opening for _, opening in ranked[:MOST]]


def opened(arguments: dict[str, Any], opening: Opening) -> dict[str, Any]:
    """A copy of the arguments with the opening's value at its place."""
    made: dict[str, Any] = _with(arguments, opening.path, opening.value)
    return made


def _all_openings(
    arguments: dict[str, Any], observations: Sequence[Observation], dice: Dice
) -> Iterator[tuple[int, int, Opening]]:
    """Each with its rank and the number of operations on arguments before."""
    passed: dict[Path, list[Gate]] = {}
    for late, observation in enumerate(observations):
        path, via, outcome = observation.path, observation.via, observation.outcome
        whole = _at(arguments, path)
        try:
            operand = json.loads(observation.operand)
        except ValueError:
            continue
        if whole is MISSING and any([isinstance(part, int) for part in path]):
            continue
        sight = Sight(observation.operation, operand, outcome, seen(whole, via), dice)
        gate = Gate(via, sight, bool(outcome))
        before = passed.setdefault(path, [])
        is_last = late == len(observations) - 1
        for goal in goals(sight):
            for rank, value in _lifted(goal, whole, gate, before, is_last):
                changes_kind = whole is not MISSING and _kind(value) is not _kind(whole)
                is_unlikely = not path or (changes_kind and len(path) == 1)
                yield rank + UNLIKELY * is_unlikely, late, Opening(path, value)
        length = len(whole) if isinstance(whole, str) else 1
        has_room = len(before) < MOST_GATES and len(before) * length < TAKEN_APART
        if outcome is not None and has_room and gate.lets_through(whole):
            before.append(gate)
    for path, value in _leaves(arguments, ()):
        yield from ((FAR, 0, Opening(path, guess)) for guess in guesses(value))


def _lifted(
    goal: BranchGoal, whole: Any, gate: Gate, before: Sequence[Gate], is_last: bool
) -> Iterator[BranchGoal]:
    """Turn a goal for a part into goals for the whole argument.

    The first one still passes the gates before this one, the second one ignores them.
    """
    rank, part = goal
    value = replaced(whole, gate.via, part)
    if value is MISSING:
        return
    other = gate._replace(outcome=not gate.outcome)
    turns = gate.sight.passed is not None and other.lets_through(value)
    kept = with_passes_kept(value, [*before, other] if turns else before)
    rank = min(rank, BREAKS) if turns and is_last else rank
    for made, later in ((kept, 0), (value, 2)):
        if _as_json(made) is not None and not (made == whole and type(made) is type(whole)):
            yield rank + later, made


def _kind(value: Any) -> type:
    return float if type(value) is int else type(value)


def _as_json(value: Any) -> str | None:
    try:
        return json.dumps(value, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None


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
    if not isinstance(value, dict | list):
        yield path, value
        return
    for key, item in value.items() if isinstance(value, dict) else enumerate(value[:10]):
        yield from _leaves(item, (*path, key))
