"""Numbers that suit the name of a parameter, within what its schema allows."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil, floor
from typing import Any

from misstep.core.dice import SEED_LIMIT as EXACT
from misstep.core.dice import Dice
from misstep.schemas.limits import is_number
from misstep.schemas.samples import range_for

DRAWS = 3  # from every range, since a schema may have more to say than its limits
FINEST = 12  # decimals
MOST_IN_ROW = 30  # that follow, for lists in which no number may come twice
LARGEST = 10**300
REACH = 20  # steps beyond a limit that leaves no room for what the name suggests


def numbers_for(schema: Mapping[str, Any], name: str, whole: bool, dice: Dice) -> Iterator[int | float]:
    """Candidates within the limits: those that the name suggests, then others, then finer ones."""
    low, high, step = (Fraction(number) for number in range_for(name))
    limits = _Limits(schema)
    for unit in _units(schema, step, whole):
        spans = (limits.multiples(unit, *part) for part in limits.ranges(low, high, unit * REACH))
        for first, last in spans:
            for _ in range(DRAWS if first <= last else 0):
                yield _written(unit * (first + dice.below(min(last - first + 1, EXACT))))
            yield from (_written(unit * each) for each in range(first, min(last + 1, first + MOST_IN_ROW)))
    yield from (_written(edge) for edge in (limits.least, limits.most) if edge is not None)


def _units(schema: Mapping[str, Any], step: Fraction, whole: bool) -> list[Fraction]:
    """What the candidates are multiples of, coarse ones first."""
    factor = _fraction(schema.get("multipleOf"))
    if factor is not None and factor > 0:
        return [Fraction(factor.numerator) if whole else factor]
    finer = [] if whole else [Fraction(1, 10**decimals) for decimals in range(1, FINEST + 1)]
    return [step, Fraction(1), *finer]


class _Limits:
    """The least and the most that a schema allows, if it says so."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._above = _fraction(schema.get("exclusiveMinimum"))
        self._below = _fraction(schema.get("exclusiveMaximum"))
        least = [self._above, _fraction(schema.get("minimum"))]
        most = [self._below, _fraction(schema.get("maximum"))]
        self.least = max((limit for limit in least if limit is not None), default=None)
        self.most = min((limit for limit in most if limit is not None), default=None)

    def ranges(self, low: Fraction, high: Fraction, reach: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
        """What is allowed of a range, which may be nothing, then what is allowed next to it."""
        yield self._clipped(low, high)
        if self.least is not None:
            yield self._clipped(self.least, self.least + reach)
        if self.most is not None:
            yield self._clipped(self.most - reach, self.most)
        yield self._clipped(low, low + reach)

    def _clipped(self, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        low = low if self.least is None else max(low, self.least)
        return low, high if self.most is None else min(high, self.most)

    def multiples(self, unit: Fraction, low: Fraction, high: Fraction) -> tuple[int, int]:
        """How often the unit goes into the least and the most between these that are allowed."""
        first, last = ceil(low / unit), floor(high / unit)
        if self._above is not None:
            first = max(first, floor(self._above / unit) + 1)
        if self._below is not None:
            last = min(last, ceil(self._below / unit) - 1)
        return first, last


def _fraction(number: object) -> Fraction | None:
    """A number as it is written; none where it is out of all proportion."""
    try:
        fraction = Fraction(repr(number)) if is_number(number) else None
    except ValueError:  # infinite, or no number at all
        return None
    return fraction if fraction is not None and abs(fraction) < LARGEST else None


def _written(number: Fraction) -> int | float:
    """As an integer where it is one that every reader of JSON gets right."""
    return int(number) if number.denominator == 1 and abs(number) < EXACT else float(number)
