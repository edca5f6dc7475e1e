"""A falling curve through success rates, with its uncertainty."""

from collections.abc import Iterator, Sequence
from math import exp, log, log1p, sqrt
from typing import TypeAlias

import msgspec

from misstep.core.capability import Fit, Half
from misstep.core.statistics import Z_95, bisect, chi_square_tail, logistic

# Cases with one number of actions: that number, how many of them passed, how many were judged.
Count: TypeAlias = tuple[int, int, int]

STEEPEST = 1e4  # one over the spread, at which the curve is a step
DROP = Z_95**2 / 2  # of the log-likelihood, at the ends of a 95 % interval
FAR = 50  # how many times the largest number of actions 50 % may lie away
LEAST_EXPECTED = 5.0  # passes and failures in a group, for the chi-square test to be sound


def fit_logistic(points: Sequence[Count]) -> Fit | None:
    """The likeliest logistic curve that falls; None where success doesn't fall, or only one size was tried.

    The likelihood is weighed with a prior on the spread, symmetric about 1 on the log scale, that changes by
    a factor of 1.65 at most when the spread changes by one of 2.72. So the spread stays away from 0 where all
    pass up to some size and none beyond, and the whole gap between the two is left in doubt. There is no
    prior on the 50 % point itself.

    The interval is that of the profile likelihood. An end is None where it is not between 0 and twice the
    largest number of actions: what was tried doesn't tell as much.
    """
    judged = [point for point in points if point[2]]
    if not _falls(judged):
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


def _falls(points: Sequence[Count]) -> bool:
    """Whether the likeliest logistic curve falls: cases that passed were smaller than those that failed."""
    cases = sum(judged for _, _, judged in points)
    passed = sum(passed for _, passed, _ in points)
    return cases * sum(n * passed for n, passed, _ in points) < passed * sum(n * j for n, _, j in points)


class _Likelihood:
    """The log-likelihood of curves, by where they pass 50 % and by their steepness, one over the spread."""

    def __init__(self, points: Sequence[Count]) -> None:
        self._points = [(n, judged - passed, judged) for n, passed, judged in points]
        self._nearby = 1.0  # the steepness found last, where the next search begins

    def profile(self, half: float) -> tuple[float, float]:
        """The best steepness for a curve that passes 50 % at `half`, and the log-likelihood with it."""
        low, high = 1 / STEEPEST, STEEPEST
        steepness = self._nearby
        for _ in range(60):
            slope, bend = self._slope(half, steepness)
            low, high = (steepness, high) if slope > 0 else (low, steepness)
            # A step of Newton's on the log scale, halving the bracket where it leads out of it.
            ahead = steepness * exp(min(5.0, max(-5.0, -slope / bend))) if bend < 0 else 0.0
            ahead = ahead if low < ahead < high else sqrt(low * high)
            if abs(ahead - steepness) <= 1e-7 * steepness:
                break
            steepness = ahead
        self._nearby = steepness
        return steepness, self._value(half, steepness)

    def is_past(self, half: float) -> bool:
        """Whether the best curve through `half` fails less than the agent did, so that `half` is too high."""
        steepness, _ = self.profile(half)
        expected = sum(j * (1 - logistic(n, half, 1 / steepness)) for n, _, j in self._points)
        return expected < sum(failed for _, failed, _ in self._points)

    def _value(self, half: float, steepness: float) -> float:
        value = log(steepness / (1 + steepness * steepness)) / 2  # the prior
        for n, failed, judged in self._points:
            x = steepness * (n - half)
            value += failed * x - judged * (max(x, 0.0) + log1p(exp(-abs(x))))
        return value

    def _slope(self, half: float, steepness: float) -> tuple[float, float]:
        """The first two derivatives by the logarithm of the steepness."""
        square = steepness * steepness
        slope = 0.5 - square / (1 + square)
        bend = -2 * square / (1 + square) ** 2
        for n, failed, judged in self._points:
            x = steepness * (n - half)
            passes = logistic(n, half, 1 / steepness)
            pull = x * (failed - judged * (1 - passes))
            slope += pull
            bend += pull - x * x * judged * passes * (1 - passes)
        return slope, bend


class _Group(msgspec.Struct, frozen=True):
    """Neighbouring numbers of actions: passes, passes and failures expected, variance of the passes."""

    passed: float = 0.0
    passes: float = 0.0
    fails: float = 0.0
    variance: float = 0.0

    def __add__(self, other: "_Group") -> "_Group":
        return _Group(
            self.passed + other.passed,
            self.passes + other.passes,
            self.fails + other.fails,
            self.variance + other.variance,
        )

    @property
    def is_large(self) -> bool:
        return min(self.passes, self.fails) >= LEAST_EXPECTED


def _misfit(points: Sequence[Count], half: float, spread: float) -> float | None:
    """The p-value of Pearson's test; None where there are not three groups large enough for it.

    Numbers of actions with few expected passes or failures go together with their neighbours, since the
    chi-square approximation is poor for them, and in pure Python a simulated p-value would take seconds.
    """
    groups = list(_groups(sorted(points), half, spread))
    if len(groups) < 3:
        return None
    x = sum((group.passed - group.passes) ** 2 / group.variance for group in groups)
    return chi_square_tail(x, len(groups) - 2)


def _groups(points: Sequence[Count], half: float, spread: float) -> Iterator[_Group]:
    """Groups of neighbours, each as small as may be; what is left over goes with the last."""
    kept, group = _Group(), _Group()
    for n, passed, judged in points:
        rate = logistic(n, half, spread)
        expected = judged * rate
        group += _Group(passed, expected, judged - expected, expected * (1 - rate))
        if group.is_large:
            if kept.is_large:
                yield kept
            kept, group = group, _Group()
    if kept.is_large:
        yield kept + group
