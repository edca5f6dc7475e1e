"""Which arguments get past the gates that were seen in a call, or break behind them.

What to wish for, by what the code did.

Brings a new value past the gates that the old one had passed.
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

Wishes = Callable[[Sight], Iterator[BranchGoal]]

_KINDS: dict[str, Wishes] = {**comparing.COMPARING, **parsing.TAKING_APART, **parsing.PARSING}


def wishes(sight: Sight) -> list[BranchGoal]:
    """Values to have there instead; none where nothing is known about the operation.

    Observations come out of a process that the code under test shares, and may be anything.
    """
    make = _KINDS.get(sight.operation)
    try:
        return list(make(sight)) if make else []
    except (TypeError, ValueError, AttributeError, KeyError, IndexError, OverflowError):
        return []


def guesses(value: Any) -> Iterator[BranchGoal]:
    """What to try without having seen anything: a text that reads like a number is taken for one."""
    if not isinstance(value, str) or len(value) > 40:
        return
    try:
        float(value)
    except ValueError:
        return
    for text in parsing.NUMBERS:
        yield BranchGoal(FAR, text, f"the text reads like a number: {text!r}")


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


MOST = 300
LONGEST = 20_000  # characters of JSON
MOST_GATES = 24  # of one argument that a new value is brought through
TAKEN_APART = 10_000  # characters to be taken apart at so many gates; of a long text there are fewer
UNLIKELY = 4  # by how much it is put off to change the kind of an argument, or which arguments there are

Matching = Callable[[str], str | None]


class Opening(msgspec.Struct, frozen=True):
    """A value for a place in the arguments, and why it is worth trying. It is never to be changed."""

    path: Path
    value: Any
    why: str


class Way(NamedTuple):
    """What lies before a gate: gates that were passed, and whether nothing was seen behind it."""

    before: Sequence[Gate]
    ends: bool


def openings(
    arguments: dict[str, Any],
    observations: Iterable[Observation],
    dice: Dice,
    matching: Matching | None = None,
) -> list[Opening]:
    """What to try after a call with these arguments in which this was observed, the most promising first.

    First comes what passes a gate that was closed, the last one seen before others; then what passes and has
    nothing good behind it; then what is far-fetched. `matching` makes texts for regular expressions that
    can't be read here.
    """
    found: dict[tuple[Path, str], tuple[tuple[int, int, int], Opening]] = {}
    for number, (path, wish) in enumerate(_all_wishes(arguments, list(observations), dice, matching)):
        value = json.dumps(wish.value, sort_keys=True)
        opening = Opening(path, wish.value, wish.why)
        key = (path, value)
        rank = (wish.rank, -wish.late, number)
        if len(value) <= LONGEST and (key not in found or rank < found[key][0]):
            found[key] = (rank, opening)
    ranked = sorted(found.values(), key=lambda pair: pair[0])
    return [opening for _, opening in ranked[:MOST]]


def opened(arguments: dict[str, Any], opening: Opening) -> dict[str, Any]:
    """The arguments with the opening's value in its place; what was given stays as it is."""
    made: dict[str, Any] = _with(arguments, opening.path, opening.value)
    return made


def _all_wishes(
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
        for wish in wishes(sight):
            yield from _lifted(observation, whole, wish._replace(late=late), sight, Way(before, is_last))
        gate = Gate(observation.via, sight, bool(observation.outcome))
        if observation.outcome is not None and _has_room(before, whole) and gate.lets_through(whole):
            before.append(gate)
    for path, value in _leaves(arguments, ()):
        for wish in guesses(value):
            yield path, wish


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
    observation: Observation, whole: Any, wish: BranchGoal, sight: Sight, way: Way
) -> Iterator[tuple[Path, BranchGoal]]:
    """The wish for a part as wishes for the argument that it is a part of.

    The first gets through the gates before this one as the old value did, the second has no regard to them.
    """
    value = replaced(whole, observation.via, wish.value)
    if value is MISSING:
        return
    other = Gate(observation.via, sight, not observation.outcome)
    turns = observation.outcome is not None and other.lets_through(value)
    kept = with_passes_kept(value, [*way.before, other] if turns else way.before)
    for made, later in ((kept, 0), (value, 2)):
        if _is_json(made) and not (made == whole and type(made) is type(whole)):
            changes_kind = whole is not MISSING and _kind(made) is not _kind(whole)
            is_unlikely = not observation.path or (changes_kind and len(observation.path) == 1)
            rank = min(wish.rank, BREAKS) if turns and way.ends else wish.rank
            yield observation.path, wish._replace(rank=rank + later + UNLIKELY * is_unlikely, value=made)


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
