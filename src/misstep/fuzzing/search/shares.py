"""Divides calls among their sources by recent success, and remembers hazards and observations."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

from misstep.core.rng import Dice
from misstep.core.tool import Observation, Path

_ENOUGH = 2

_Kind: TypeAlias = tuple[str, str, str, bool]  # tool, parameter, type, whether it is negative


class Hazards:
    """Sizes of values with which calls hung or died, if no call with such a size has returned."""

    def __init__(self) -> None:
        self._costly = dict[_Kind, Counter[float]]()  # by size
        self._harmless = dict[_Kind, float]()  # the largest size

    def note(self, tool: str, arguments: Mapping[str, Any], costly: bool) -> None:
        for kind, size in _sizes(tool, arguments) if costly or self._costly else ():
            if costly:
                self._costly.setdefault(kind, Counter())[size] += 1
            else:
                self._harmless[kind] = max(size, self._harmless.get(kind, -1))

    def threaten(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether a value is as large as those of several calls that hung or died."""
        for kind, size in _sizes(tool, arguments) if self._costly else ():
            harmless, sizes = self._harmless.get(kind, -1), self._costly.get(kind, Counter[float]())
            if sum(times for each, times in sizes.items() if harmless < each <= size) >= _ENOUGH:
                return True
        return False


def _sizes(tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[_Kind, float]]:
    for name, value in arguments.items():
        is_number = isinstance(value, int | float)
        is_sized = isinstance(value, str | list | dict)
        size = abs(value) if is_number else len(value) if is_sized else 0
        yield (tool, name, type(value).__name__, is_number and value < 0), size


_FORGET = 0.98  # weight that past results keep after each call
_PRIOR = 10.0  # calls that the first estimate counts for
_RENEWED = 16  # results after which the shares are recomputed


class Shares:
    """A bandit with a minimum share, since any source may find something later."""

    def __init__(self, first: Mapping[str, float], floor: float = 0.05) -> None:
        self._first = dict(first)
        self._floor = floor
        self._tried = dict.fromkeys(first, 0.0)
        self._gained = dict.fromkeys(first, 0.0)
        self._useful = dict.fromkeys(first, 1.0)  # share of its ideas that become calls
        self._told = 0
        self._bounds = list[tuple[float, str]]()
        self._renew()

    def pick(self, dice: Dice) -> str:
        place = dice.below(1 << 30) / (1 << 30)
        return next((name for bound, name in self._bounds if place < bound), self._bounds[-1][1])

    def reward(self, name: str, gain: float) -> None:
        """Count a call by this source and its gain; unknown names are ignored."""
        if name not in self._tried:
            return
        self._useful[name] += (1 - self._useful[name]) * (1 - _FORGET)
        self._tried[name] = self._tried[name] * _FORGET + 1
        self._gained[name] = self._gained[name] * _FORGET + gain
        self._count()

    def waste(self, name: str) -> None:
        """Count an idea of this source that was rejected."""
        if name in self._useful:
            self._useful[name] *= _FORGET
            self._count()

    def _count(self) -> None:
        self._told += 1
        if self._told % _RENEWED == 0:
            self._renew()

    def settle(self, name: str, share: float) -> None:
        """Set a new first estimate for a source."""
        self._first[name] = share
        self._renew()

    def retire(self, name: str) -> None:
        """Give a source no more calls."""
        for each in (self._first, self._tried, self._gained, self._useful):
            each.pop(name, None)
        self._renew()

    def _renew(self) -> None:
        # The average gain of a call, so that first estimates don't dominate when little is left to find.
        pace = (sum(self._gained.values()) + 1.0) / (sum(self._tried.values()) + 1.0)
        rates = {
            name: self._useful[name]
            * (self._gained[name] + _PRIOR * first * pace)
            / (self._tried[name] + _PRIOR)
            for name, first in self._first.items()
        }
        total = sum(rates.values()) or 1.0
        floored = {name: max(rates[name] / total, self._floor) for name in rates}
        whole = sum(floored.values())
        bounds = accumulate(share / whole for share in floored.values())
        self._bounds = list(zip(bounds, floored, strict=True))


_VARIANTS = 16  # operands per test; with more, it is a comparison with other arguments
_MOST = 4000
_OPERAND = 100  # characters by which operands are compared
_PLACES = {str(place) for place in range(8)}  # indexes told apart; larger ones probably come from a loop
_PARTS = frozenset({"at", "slice", "partition", "rpartition", "url", "group"})

_Test: TypeAlias = tuple[Path, str, bool | None, tuple[str, ...]]


class Sights:
    """The operations of one tool's code on its arguments that have been observed."""

    def __init__(self) -> None:
        self._operands = dict[_Test, set[str]]()
        self._count = 0

    def are_new(self, observations: Sequence[Observation]) -> bool:
        """Whether any of these observations is new. All of them are recorded."""
        return any([self._is_new(each) for each in observations])  # a list, so that none is skipped

    def _is_new(self, observation: Observation) -> bool:
        steps = tuple([_told(*step) for step in observation.via])
        test = (observation.path, observation.operation, observation.outcome, steps)
        operands = self._operands.setdefault(test, set())
        operand = observation.operand[:_OPERAND]
        if operand in operands or len(operands) >= _VARIANTS or self._count >= _MOST:
            return False
        operands.add(operand)
        self._count += 1
        return True


def _told(name: str, operands: str) -> str:
    """A step and the part it took, because each part may be tested in the same way."""
    if name not in _PARTS:
        return name
    first, *_, last = operands.strip("[]").split(", ") * 2
    part = first if name == "slice" else last
    is_place = part.isdigit() and part not in _PLACES
    return name if is_place else f"{name} {part}"
