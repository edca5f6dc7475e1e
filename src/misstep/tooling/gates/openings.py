"""Which arguments get past the gates that were seen in a call, or break behind them."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from misstep.core.dice import Dice
from misstep.core.tool import Observation, Path
from misstep.tooling.gates.keeping import with_passes_kept
from misstep.tooling.gates.lenses import MISSING, replaced, seen
from misstep.tooling.gates.sight import Sight, Wish
from misstep.tooling.gates.wishes import guesses, wishes

MOST = 300
LONGEST = 20_000  # characters of JSON
UNLIKELY = 4  # by how much it is put off to change the kind of an argument, or which arguments there are

Matching = Callable[[str], str | None]


class Opening(msgspec.Struct, frozen=True):
    """A value for a place in the arguments, and why it is worth trying. It is never to be changed."""

    path: Path
    value: Any
    why: str


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
    passed: dict[Path, list[tuple[Observation, Sight]]] = {}
    for late, observation in enumerate(observations):
        whole = _at(arguments, observation.path)
        sight = _sight(observation, whole, dice, matching)
        is_missing_item = whole is MISSING and any([isinstance(part, int) for part in observation.path])
        if sight is None or is_missing_item:
            continue
        before = passed.setdefault(observation.path, [])
        for wish in wishes(sight):
            yield from _lifted(observation, whole, wish._replace(late=late), before)
        if observation.outcome:
            before.append((observation, sight))
    for path, value in _leaves(arguments, ()):
        for wish in guesses(value):
            yield path, wish


def _sight(observation: Observation, whole: Any, dice: Dice, matching: Matching | None) -> Sight | None:
    try:
        operand = json.loads(observation.operand)
    except ValueError:
        return None
    now = seen(whole, observation.via)
    return Sight(observation.operation, operand, observation.outcome, now, dice, matching)


def _lifted(
    observation: Observation, whole: Any, wish: Wish, passed: Sequence[tuple[Observation, Sight]]
) -> Iterator[tuple[Path, Wish]]:
    """The wish for a part as wishes for the argument that it is a part of.

    The first passes the gates before this one as they were passed, the second has no regard to them.
    """
    value = replaced(whole, observation.via, wish.value)
    if value is MISSING:
        return
    kept = with_passes_kept(value, passed)
    for made, later in ((kept, 0), (value, 2)):
        if _is_json(made) and not (made == whole and type(made) is type(whole)):
            changes_kind = whole is not MISSING and _kind(made) is not _kind(whole)
            is_unlikely = not observation.path or (changes_kind and len(observation.path) == 1)
            rank = wish.rank + later + (UNLIKELY if is_unlikely else 0)
            yield observation.path, wish._replace(rank=rank, value=made)


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
