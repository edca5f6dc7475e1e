"""What is believed about an agent's curve, to ask next what tells most about it."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import exp, log, log1p
from typing import TypeAlias

from misstep.core.statistics import logistic
from misstep.planning.capability.fitting import Count

MARGIN = 2.0  # how far beyond the sizes that can be asked for 50 % is thought to lie at most
LEAST_SPREAD, MOST_SPREAD = 0.1, 5.0
PLACES, SPREADS = 24, 10  # how finely a look divides what it looks at
LOOKS = 3  # each at what the one before has left
NEGLIGIBLE = 1e-3  # probability that the next look may leave out on either side

Range: TypeAlias = tuple[float, float]
Curve: TypeAlias = tuple[float, float]  # where it passes 50 %, and the logarithm of its spread
Information: TypeAlias = tuple[float, float, float]  # Fisher's, on the one, on both together, on the other


class Belief:
    """A posterior over logistic curves that pass 50 % somewhere near `low` to `high`.

    Before anything is known every place is as likely, and every order of magnitude of the spread.
    """

    def __init__(self, low: int, high: int, counts: Sequence[Count]) -> None:
        self._sizes = range(low, high + 1)
        self._judged = {n: judged for n, _, judged in counts}
        places, spreads = (low - MARGIN, high + MARGIN), (log(LEAST_SPREAD), log(MOST_SPREAD))
        # What little is known beforehand keeps the variance finite while cases have told nothing yet.
        self._before = ((2 / (places[1] - places[0])) ** 2, 0.0, 1.0)
        weighed = _weigh(places, spreads, counts)
        for _ in range(LOOKS - 1):
            places, spreads = (_bulk([(curve[axis], w) for curve, w in weighed]) for axis in (0, 1))
            weighed = _weigh(places, spreads, counts)
        self._step = (places[1] - places[0]) / (PLACES - 1)
        likely = [(half, exp(spread), w) for (half, spread), w in weighed if w > NEGLIGIBLE / 10]
        total = sum(weight for _, _, weight in likely)
        self._curves = [(half, spread, weight / total) for half, spread, weight in likely]

    def chance_below(self, size: float) -> float:
        """How likely the agent is under 50 % at that number of actions already."""
        # A curve stands for all that lie half a step around it.
        shares = ((size - half) / self._step + 0.5 for half, _, _ in self._curves)
        weights = (weight for _, _, weight in self._curves)
        return sum(max(0.0, min(1.0, share)) * weight for share, weight in zip(shares, weights, strict=True))

    def most_telling(self, sizes: Sequence[int], more: int) -> int:
        """With how many actions so many more cases are expected to leave least variance of the 50 % point."""
        expected = dict.fromkeys(sizes, 0.0)
        for half, spread, weight in self._curves:
            told = {size: _told(size, half, spread) for size in self._sizes}
            known = self._before
            for size, judged in self._judged.items():
                known = _add(known, told[size], judged)
            for size in sizes:
                place, both, scale = _add(known, told[size], more)
                expected[size] += weight * scale / (place * scale - both * both)
        return min(sizes, key=expected.__getitem__)


def _told(size: int, half: float, spread: float) -> Information:
    """What one case tells about a curve."""
    rate = logistic(size, half, spread)
    place = rate * (1 - rate) / (spread * spread)
    return place, place * (size - half), place * (size - half) ** 2


def _add(known: Information, told: Information, cases: int) -> Information:
    return (known[0] + cases * told[0], known[1] + cases * told[1], known[2] + cases * told[2])


def _weigh(places: Range, spreads: Range, counts: Sequence[Count]) -> list[tuple[Curve, float]]:
    """Evenly spaced curves with their probabilities."""
    curves = [(half, spread) for half in _even(places, PLACES) for spread in _even(spreads, SPREADS)]
    fits = [_fit(half, exp(-spread), counts) for half, spread in curves]
    best = max(fits)
    weights = [exp(fit - best) for fit in fits]
    total = sum(weights)
    return [(curve, weight / total) for curve, weight in zip(curves, weights, strict=True)]


def _fit(half: float, steepness: float, counts: Sequence[Count]) -> float:
    """The log-likelihood of a curve."""
    value = 0.0
    for n, passed, judged in counts:
        x = (n - half) * steepness
        value += (judged - passed) * x - judged * (x + log1p(exp(-x)) if x > 0 else log1p(exp(x)))
    return value


def _bulk(weighed: Iterable[tuple[float, float]]) -> Range:
    """Between which values all but a negligible part of the belief lies, with one to spare."""
    shares = dict[float, float]()
    for value, weight in sorted(weighed):
        shares[value] = shares.get(value, 0.0) + weight
    values, sums = list(shares), list(accumulate(shares.values()))
    first = next(i for i, total in enumerate(sums) if total > NEGLIGIBLE)
    last = next(i for i, total in enumerate(sums) if total > 1 - NEGLIGIBLE)
    return values[max(first - 1, 0)], values[min(last + 1, len(values) - 1)]


def _even(ends: Range, count: int) -> list[float]:
    low, high = ends
    return [low + (high - low) * step / (count - 1) for step in range(count)]
