"""Fits logistic curves of success to counts, and keeps a posterior over them that tells what to try next."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import exp, log, log1p, sqrt
from operator import add
from typing import TypeAlias

from misstep.core.results.capability import Fit, Half
from misstep.core.stats import Z_95, bisect, chi_square_tail, logistic

# A number of actions, how many cases with it passed, and how many were judged.
Count: TypeAlias = tuple[int, int, int]

STEEPEST = 1e4  # one over the spread, at which the curve is a step
DROP = Z_95**2 / 2  # decrease of the log-likelihood at the ends of a 95 % interval
FAR = 50  # how many times the largest number of actions the 50 % point may be away
LEAST_EXPECTED = 5.0  # passes and failures in a group, for a valid chi-square test


def fit_logistic(points: Sequence[Count]) -> Fit | None:
    """The most likely falling logistic curve; None if success doesn't fall, or only one size was tried.

    The likelihood is combined with a prior on the spread, symmetric about 1 on the log scale, that changes by
    at most a factor of 1.65 when the spread changes by a factor of 2.72. So the spread stays away from 0 if
    all pass up to some size and none beyond, and the whole gap between the two remains possible. There is no
    prior on the 50 % point itself.

    The interval is from the profile likelihood. An end is None if it is not between 0 and twice the largest
    number of actions, because the data can't tell.
    """
    judged = [point for point in points if point[2]]
    cases, passes = sum(j for _, _, j in judged), sum(passed for _, passed, _ in judged)
    # It falls if cases that passed were smaller than those that failed.
    if cases * sum(n * passed for n, passed, _ in judged) >= passes * sum(n * j for n, _, j in judged):
        return None
    likelihood = _Likelihood(judged)
    top = max(n for n, _, _ in judged)
    at = bisect(likelihood.is_past, -FAR * top, FAR * top, 32)
    steepness, best = likelihood.profile(at)
    cut = best - DROP
    bottom, ceiling = min(0.0, at), max(2.0 * top, at)
    low, high = None, None
    if likelihood.profile(bottom)[1] < cut:
        low = bisect(lambda half: likelihood.profile(half)[1] >= cut, bottom, at, 20)
    if likelihood.profile(ceiling)[1] < cut:
        high = bisect(lambda half: likelihood.profile(half)[1] < cut, at, ceiling, 20)
    return Fit(Half(at, (low, high)), 1 / steepness, _misfit(judged, at, 1 / steepness))


def _log_likelihood(half: float, steepness: float, points: Sequence[Count], value: float = 0.0) -> float:
    """The log-likelihood of a curve, added to `value`."""
    for n, passed, judged in points:
        x = steepness * (n - half)
        value += (judged - passed) * x - judged * (max(x, 0.0) + log1p(exp(-abs(x))))
    return value


class _Likelihood:
    """The log-likelihood of curves, by their 50 % point and their steepness (one over the spread)."""

    def __init__(self, points: Sequence[Count]) -> None:
        self._points = points
        self._nearby = 1.0  # the last steepness found, where the next search starts

    def profile(self, half: float) -> tuple[float, float]:
        """The best steepness for a curve with its 50 % point at `half`, and its log-likelihood."""
        low, high = 1 / STEEPEST, STEEPEST
        steepness = self._nearby
        for _ in range(60):
            slope, bend = self._slope(half, steepness)
            low, high = (steepness, high) if slope > 0 else (low, steepness)
            # A Newton step on the log scale, with bisection if it leaves the bracket.
            ahead = steepness * exp(min(5.0, max(-5.0, -slope / bend))) if bend < 0 else 0.0
            ahead = ahead if low < ahead < high else sqrt(low * high)
            if abs(ahead - steepness) <= 1e-7 * steepness:
                break
            steepness = ahead
        self._nearby = steepness
        prior = log(steepness / (1 + steepness * steepness)) / 2
        return steepness, _log_likelihood(half, steepness, self._points, prior)

    def is_past(self, half: float) -> bool:
        """Whether `half` is too high: the best curve through it fails less often than the agent did."""
        steepness, _ = self.profile(half)
        expected = sum(j * (1 - logistic(n, half, 1 / steepness)) for n, _, j in self._points)
        return expected < sum(judged - passed for _, passed, judged in self._points)

    def _slope(self, half: float, steepness: float) -> tuple[float, float]:
        """The first two derivatives by the logarithm of the steepness."""
        square = steepness * steepness
        slope = 0.5 - square / (1 + square)
        bend = -2 * square / (1 + square) ** 2
        for n, passed, judged in self._points:
            x = steepness * (n - half)
            passes = logistic(n, half, 1 / steepness)
            pull = x * (judged - passed - judged * (1 - passes))
            slope += pull
            bend += pull - x * x * judged * passes * (1 - passes)
        return slope, bend


def _misfit(points: Sequence[Count], half: float, spread: float) -> float | None:
    """The p-value of Pearson's test; None if there are fewer than three groups large enough for it.

    Numbers of actions with few expected passes or failures are merged with their neighbours, because the
    chi-square approximation is poor for them, and in pure Python a simulated p-value would take seconds.
    """
    groups, group = list[list[float]](), [0.0] * 4  # passes, those expected, expected failures, variance
    for n, passed, judged in sorted(points):
        rate = logistic(n, half, spread)
        expected = judged * rate
        group = [*map(add, group, (passed, expected, judged - expected, expected * (1 - rate)))]
        if min(group[1], group[2]) >= LEAST_EXPECTED:
            groups.append(group)
            group = [0.0] * 4
    if len(groups) < 3:
        return None
    groups[-1] = [*map(add, groups[-1], group)]  # what is left over joins the last
    x = sum((passed - expected) ** 2 / variance for passed, expected, _, variance in groups)
    return chi_square_tail(x, len(groups) - 2)


MARGIN = 2.0  # how far beyond the available sizes the 50 % point is assumed to be at most
LEAST_SPREAD, MOST_SPREAD = 0.1, 5.0
PLACES, SPREADS = 24, 10  # grid size of one pass
LOOKS = 3  # passes, each on the range that the one before has left
NEGLIGIBLE = 1e-3  # probability that the next pass may leave out on either side

Range: TypeAlias = tuple[float, float]
Curve: TypeAlias = tuple[float, float]  # its 50 % point, and the logarithm of its spread
Information: TypeAlias = tuple[float, float, float]  # Fisher information: first, both, second


class Belief:
    """A posterior over logistic curves whose 50 % point is near `low` to `high`.

    The prior is uniform in the 50 % point and in the logarithm of the spread.
    """

    def __init__(self, low: int, high: int, counts: Sequence[Count]) -> None:
        self._sizes = range(low, high + 1)
        self._judged = {n: judged for n, _, judged in counts}
        places, spreads = (low - MARGIN, high + MARGIN), (log(LEAST_SPREAD), log(MOST_SPREAD))
        # The prior keeps the variance finite while there is no data yet.
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
        """The probability that the agent is already below 50 % at this number of actions."""
        # A curve stands for all curves within half a step of it.
        shares = (((size - half) / self._step + 0.5, weight) for half, _, weight in self._curves)
        return sum(max(0.0, min(1.0, share)) * weight for share, weight in shares)

    def most_telling(self, sizes: Sequence[int], more: int) -> int:
        """The number of actions at which more cases should reduce the variance of the 50 % point most."""
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
    """The Fisher information of one case about a curve."""
    rate = logistic(size, half, spread)
    place = rate * (1 - rate) / (spread * spread)
    return place, place * (size - half), place * (size - half) ** 2


def _add(known: Information, told: Information, cases: int) -> Information:
    return (known[0] + cases * told[0], known[1] + cases * told[1], known[2] + cases * told[2])


def _weigh(places: Range, spreads: Range, counts: Sequence[Count]) -> list[tuple[Curve, float]]:
    curves = [(half, spread) for half in _even(places, PLACES) for spread in _even(spreads, SPREADS)]
    fits = [_log_likelihood(half, exp(-spread), counts) for half, spread in curves]
    best = max(fits)
    weights = [exp(fit - best) for fit in fits]
    total = sum(weights)
    return [(curve, weight / total) for curve, weight in zip(curves, weights, strict=True)]


def _bulk(weighed: Iterable[tuple[float, float]]) -> Range:
    """The range that contains all but a negligible part of the belief, plus one value on each side."""
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
