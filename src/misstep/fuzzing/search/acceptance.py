"""Learns what a server's tool accepts, so that at least half of its calls get past validation.

Servers refuse most values of some parameters, such as names of files, zones and sheets. While no call was
accepted, refused ones are corrected where their refusals point to. Once a call was accepted, others differ
from it in one place, in ways that the tool has accepted before.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, TypeAlias

import msgspec

from misstep.core.rng import Dice
from misstep.core.tool import Path
from misstep.fuzzing.inputs.slots import PoolEntry, put
from misstep.fuzzing.judging.echoes import GivenValues, normalise_for
from misstep.fuzzing.returned import READ, is_returned
from misstep.fuzzing.search.corpus import CallIdea, Calls
from misstep.schemas.samples import words_of

SAFE = "accepted"  # origin of ideas that vary accepted calls

_WANTED = 0.6  # share of accepted calls below which most calls vary accepted ones
_LEAST = 0.5  # share below which nearly all of them do
_NEARLY_ALWAYS, _MOSTLY = 0.9, 0.8  # share of them then, and otherwise
_FEW = 4
_WORN = 3  # refused variations in a row
_EXAMPLES = 16
_VALUES = 24  # accepted values kept per place
_SHORT = 400  # characters of a value that is kept
_MOST_PLACES = 32
_DEEPEST = 16  # levels of nested lists and objects
_CHOICES = 12  # changes to choose from
_REPEATED = 0.5  # chance of an accepted call as it was, if variations were refused
_TWICE = 0.2  # chance of a change in a second place: what is moved has to be there, and its new place free
_ALONE = 0.1  # chance of a call without the preparation that accepted ones had
_KNOWN = "known"  # source of values that were accepted before
_BETWEEN = "\t"  # place and source in a key
_SHARPNESS = 6  # how much more often likely changes are made
_REFUSALS = 12  # kinds of refusals kept
_LATER = 1.6  # how much more often a refused call is corrected than one with an earlier refusal
_FEWER = 0.5  # chance of leaving out an item of a list that the refusal is about
_SAME = 0.15  # chance of trying the value of another place: some have to be equal
_QUOTED = 2  # characters of a value that a refusal repeats

# A value for a place, and where it comes from.
_Change: TypeAlias = tuple[Path, Any, str]
Draw: TypeAlias = Callable[[Path, Dice], PoolEntry | None]
Alter: TypeAlias = Callable[[Path, Any], tuple[Any, str]]  # another value, and how it was made


class _RefusedCall(msgspec.Struct):
    """A refused call, the places with values that the refusal repeats, and how often it was corrected."""

    calls: Calls
    blamed: list[Path]
    tried: int = 0


class Acceptance:
    """The calls that a tool accepted, and how often it accepts changes of them by place and source."""

    def __init__(self) -> None:
        self.calls = self.accepted = 0
        self._refused = dict[str, _RefusedCall]()  # by what the refusals say
        self._examples = dict[str, Calls]()
        self._known = dict[Path, dict[str, Any]]()
        self._tried, self._taken = Counter[str](), Counter[str]()
        self._failed = 0  # variations of accepted calls that were refused, since the last accepted one

    @property
    def is_worn(self) -> bool:
        """Whether what was accepted is not any more: what is moved is no longer there."""
        return self._failed >= _WORN

    @property
    def need(self) -> float:
        """How often calls should be prepared: rarely while most are accepted without."""
        if self.is_unknown:
            return 0.8
        return 0.5 if self.accepted < _WANTED * self.calls else 0.1

    @property
    def is_closed(self) -> bool:
        """Whether calls were made, and none was accepted; nothing is heard of functions."""
        return bool(self.calls) and not self.accepted

    @property
    def is_unknown(self) -> bool:
        """Whether several calls were made and none was accepted."""
        return self.calls >= _FEW and not self.accepted

    @property
    def was_refused(self) -> bool:
        """Whether there are refused calls to correct."""
        return bool(self._refused)

    @property
    def needs_preparation(self) -> bool:
        """Whether refused calls got further after others that made something."""
        return bool(self._refused) and len(self._refused[next(reversed(self._refused))].calls) > 1

    def falls_behind(self, under_way: int, safe: int, dice: Dice) -> bool:
        """Whether the next call should vary an accepted one; of the calls under way, `safe` ones do."""
        share = (self.accepted + safe) / (self.calls + under_way + 1)
        mostly = _NEARLY_ALWAYS if share < _LEAST else _MOSTLY
        return bool(self._examples) and share < _WANTED and dice.chance(mostly)

    def hear(self, calls: Calls, accepted: bool, source: str | None) -> None:
        """Take in whether the tool accepted the last of these calls; `source` is that of a varied one."""
        self.calls += 1
        self.accepted += accepted
        self._failed = 0 if accepted else self._failed + (source is not None)
        for key in source.split("\n") if source else ():
            place, _, kind = key.rpartition(_BETWEEN)
            for each in (key, place + _BETWEEN, _BETWEEN + kind) if place else (key,):
                self._tried[each] += 1
                self._taken[each] += accepted
        if accepted:
            self._keep(calls)

    def hear_refusal(self, calls: Calls, words: str, parameters: Sequence[str] = ()) -> None:
        """Keep the smallest call that was refused with such words.

        To blame are values that the words repeat, and parameters that they name.
        """
        arguments = calls[-1][1]
        kind = normalise_for(words, GivenValues(arguments))
        known = self._refused.get(kind)
        if known is None and len(self._refused) < _REFUSALS:
            known = self._refused[kind] = _RefusedCall(calls, [])
        elif known is None or _size(known.calls) <= _size(calls):
            return
        texts = [(path, value) for path, value in places_in(arguments) if isinstance(value, str)]
        known.calls = calls
        known.blamed = [path for path, value in texts if quotes(words, value)]
        said = {*words_of(words[:READ])}
        named = [(each,) for each in parameters if has_word(words, each) or {*words_of(each)} <= said]
        known.blamed += [path for path in named if path not in known.blamed]

    def stage_of(self, calls: Calls, words: str) -> int:
        """How many kinds of refusals came up to this one; what is said later is mostly a later check."""
        kind = normalise_for(words, GivenValues(calls[-1][1]))
        return next((stage for stage, each in enumerate(self._refused, 1) if each == kind), 0)

    def corrected(self, draw: Draw, optional: Sequence[str], dice: Dice) -> CallIdea | None:
        """A refused call with another value, or none, in a place that the refusal is about.

        What is said for the first time later is mostly from a later check, and is tried more often.
        """
        known = [*self._refused.values()]
        if self.needs_preparation:
            known = [each for each in known if len(each.calls) > 1]
        _, refused = min(
            enumerate(known, 1), key=lambda each: each[1].tried / _LATER ** each[0], default=(0, None)
        )
        if refused is None:
            return None
        refused.tried += 1
        *before, (tool, arguments) = refused.calls
        places = refused.blamed or _free_places(arguments)
        path = dice.pick(places) if places else ()
        others = [value for place, value in places_in(arguments) if place != path]
        if path and path[0] in arguments and path[0] in optional and dice.chance(0.5):
            changed = {name: value for name, value in arguments.items() if name != path[0]}
        elif (fewer := _without_item(arguments, path)) and dice.chance(_FEWER):
            changed = fewer
        elif path and others and dice.chance(_SAME):
            changed = put(arguments, path, dice.pick(others))
        else:
            entry = draw(general(path), dice) if path else None
            changed = arguments if entry is None else put(arguments, path, entry.value)
        return CallIdea((*before, (tool, changed)), "semantic")

    def prepared(self, call: tuple[str, dict[str, Any]], dice: Dice) -> Calls:
        """The call, mostly after the calls that accepted ones needed, and about what these have returned."""
        examples = [*self._examples.values()]
        if not examples or min(map(len, examples)) == 1 or dice.chance(_ALONE):
            return (call,)
        *before, (_, accepted) = dice.pick(examples)
        tool, arguments = call
        for path, value in places_in(accepted):
            if is_returned(value) and path[0] in arguments:
                arguments = put(arguments, path, value)
        return (*before, (tool, arguments))

    def forget_refusals(self) -> None:
        self._refused.clear()
        self._tried.clear()
        self._taken.clear()

    def varied(self, draw: Draw, alter: Alter, optional: Sequence[str], dice: Dice) -> CallIdea:
        """An accepted call with one or two places changed, preferably in a way that was accepted before."""
        text = self._likely([*self._examples], dice)
        *before, (tool, arguments) = self._examples[text]
        if self.is_worn and dice.chance(_REPEATED):
            return CallIdea(self._examples[text], SAFE, again=True, source=text)
        places = [*_free_places(arguments), *((name,) for name in optional if name not in arguments)]
        keys = [text]
        for _ in range(1 + dice.chance(_TWICE) if places else 0):
            given = dict(places_in(arguments))
            tried = (self._change(dice.pick(places), given, draw, alter, dice) for _ in range(_CHOICES))
            changes = {_key(path, source): (path, value) for path, value, source in filter(None, tried)}
            if changes:
                keys.append(self._likely([*changes], dice))
                arguments = put(arguments, *changes[keys[-1]])
        return CallIdea((*before, (tool, arguments)), SAFE, again=len(keys) == 1, source="\n".join(keys))

    def _change(
        self, path: Path, given: Mapping[Path, Any], draw: Draw, alter: Alter, dice: Dice
    ) -> _Change | None:
        known = self._known.get(general(path))
        roll = dice.below(4)
        if known and roll == 0:
            return path, dice.pick([*known.values()]), _KNOWN
        if roll == 1 and given.get(path) is not None:
            return path, *alter(path, given[path])
        entry = draw(general(path), dice)
        return None if entry is None else (path, entry.value, entry.origin)

    def _likely(self, keys: Sequence[str], dice: Dice) -> str:
        """One of these keys, mostly one that led to accepted calls."""
        weights = [self._chance(key) ** _SHARPNESS for key in keys]
        place = dice.below(1 << 30) / (1 << 30) * sum(weights)
        for key, weight in zip(keys, weights, strict=True):
            place -= weight
            if place < 0:
                return key
        return keys[-1]

    def _chance(self, key: str) -> float:
        """How likely a call is accepted, by this key and those with the same place or source."""
        place, _, source = key.rpartition(_BETWEEN)
        kin = [place + _BETWEEN, _BETWEEN + source] if place else []
        rates = [(self._taken[each] + 1) / (self._tried[each] + 1.5) for each in kin]
        expected = sum(rates) / len(rates) if rates else 2 / 3
        return (self._taken[key] + expected) / (self._tried[key] + 1)

    def _keep(self, calls: Calls) -> None:
        arguments = calls[-1][1]
        for path, value in places_in(arguments):
            kept = self._known.setdefault(general(path), {})
            if len(kept) < _VALUES and not is_returned(value) and len(text := json.dumps(value)) <= _SHORT:
                kept[text] = value
        if len(self._examples) < _EXAMPLES and len(text := json.dumps(calls)) <= _SHORT * 10:
            self._examples[text] = calls


def _without_item(arguments: dict[str, Any], path: Path) -> dict[str, Any]:
    """The arguments without the item of a list that a place is in; empty if there are no other items."""
    numbers = [place for place, step in enumerate(path) if isinstance(step, int)]
    if not numbers:
        return {}
    items: Any = arguments
    for step in path[: numbers[-1]]:
        items = items[step]
    others = [each for place, each in enumerate(items) if place != path[numbers[-1]]]
    return put(arguments, path[: numbers[-1]], others) if others else {}


def _free_places(arguments: Mapping[str, Any]) -> list[Path]:
    """The places with other values than those that earlier calls have returned."""
    return [path for path, value in dict(places_in(arguments)).items() if not is_returned(value)]


def places_in(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    """The parts of arguments that have no parts themselves, with their paths."""
    return list(islice(_places(value, path), _MOST_PLACES))


def _places(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if len(path) > _DEEPEST:
        return
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in inner:
        yield from _places(each, (*path, step))
    if path and not (isinstance(value, dict | list) and value):
        yield path, value


@lru_cache(maxsize=1 << 9)
def general(path: Path) -> Path:
    """The path with the first item of a list standing for all."""
    return tuple(0 if isinstance(step, int) else step for step in path)


def quotes(message: str, value: str) -> bool:
    """Whether a message repeats a value of a call, as it is or with escapes."""
    return len(value) >= _QUOTED and (value in message or json.dumps(value)[1:-1] in message)


def has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def _size(calls: Calls) -> tuple[int, int]:
    return len(calls), len(json.dumps(calls))


@lru_cache(maxsize=1 << 9)
def _key(path: Path, source: str) -> str:
    return f"{'/'.join(map(str, general(path)))}{_BETWEEN}{source}"
