"""Divides the calls among ways to make them, by what each has found lately."""

from collections.abc import Mapping

from misstep.core.dice import Dice

_FORGET = 0.98  # how much of what a source has done still counts after one more of its calls
_PRIOR = 10.0  # calls that the first guess is worth
_RENEWED = 16  # after so many results the shares are worked out anew


class Shares:
    """A bandit with a floor: nothing is ever given up, since any source may find something later."""

    def __init__(self, first: Mapping[str, float], floor: float = 0.05) -> None:
        self._first = dict(first)
        self._floor = floor
        self._tried = dict.fromkeys(first, 0.0)
        self._gained = dict.fromkeys(first, 0.0)
        self._useful = dict.fromkeys(first, 1.0)  # how many of its ideas are made into calls
        self._told = 0
        self._bounds = list[tuple[float, str]]()
        self._renew()

    def pick(self, dice: Dice) -> str:
        place = dice.below(1 << 30) / (1 << 30)
        for bound, name in self._bounds:
            if place < bound:
                return name
        return self._bounds[-1][1]

    def reward(self, name: str, gain: float) -> None:
        """Count a call by this source, and what it was good for; other names are not its business."""
        if name not in self._tried:
            return
        self._useful[name] += (1 - self._useful[name]) * (1 - _FORGET)
        self._tried[name] = self._tried[name] * _FORGET + 1
        self._gained[name] = self._gained[name] * _FORGET + gain
        self._count()

    def waste(self, name: str) -> None:
        """Count an idea of this source that came to no call."""
        if name in self._useful:
            self._useful[name] *= _FORGET
            self._count()

    def _count(self) -> None:
        self._told += 1
        if self._told % _RENEWED == 0:
            self._renew()

    def settle(self, name: str, share: float) -> None:
        """Guess anew how much a source is worth."""
        self._first[name] = share
        self._renew()

    def retire(self, name: str) -> None:
        """Give a source no more calls."""
        for each in (self._first, self._tried, self._gained, self._useful):
            each.pop(name, None)
        self._renew()

    def _renew(self) -> None:
        rates = {
            name: self._useful[name]
            * (self._gained[name] + _PRIOR * first * self._pace())
            / (self._tried[name] + _PRIOR)
            for name, first in self._first.items()
        }
        total = sum(rates.values()) or 1.0
        floored = {name: max(rates[name] / total, self._floor) for name in rates}
        whole = sum(floored.values())
        bound = 0.0
        self._bounds = []
        for name, share in floored.items():
            bound += share / whole
            self._bounds.append((bound, name))

    def _pace(self) -> float:
        """What a call gains on average, lest first guesses weigh more the less there is left to find."""
        return (sum(self._gained.values()) + 1.0) / (sum(self._tried.values()) + 1.0)
