"""Which arguments get past the gates that were seen in a call, or break behind them."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from misstep.core.dice import Dice
from misstep.core.tool import Observation, Path
from misstep.tooling.branch_solver.goals import guesses, wishes
from misstep.tooling.branch_solver.inverses import MISSING, replaced, seen
from misstep.tooling.branch_solver.keeping import Gate, with_passes_kept
from misstep.tooling.branch_solver.sight import BREAKS, Sight, Wish

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
) -> Iterator[tuple[Path, Wish]]:
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
    observation: Observation, whole: Any, wish: Wish, sight: Sight, way: Way
) -> Iterator[tuple[Path, Wish]]:
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
