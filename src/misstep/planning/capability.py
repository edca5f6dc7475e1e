"""Measures an agent's success rate by number of actions: which cases to run, and the fitted curve.

The adaptive design keeps a posterior over logistic curves and runs the cases that tell most about the 50 %
point.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import accumulate
from math import comb, exp, log, log1p, sqrt
from statistics import NormalDist
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from misstep.core.case import Case
from misstep.core.outcome import ERROR_KINDS, Outcome
from misstep.core.results.capability import Capability, Fit, Half, Point
from misstep.core.results.summary import Tally
from misstep.core.rng import derive_seed
from misstep.core.run import Inquiry
from misstep.core.stats import Z_95, bisect, chi_square_tail, logistic
from misstep.planning.synthesis.suite import Suite, make_case

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
    """Whether the most likely logistic curve falls: cases that passed were smaller than those that failed."""
    cases = sum(judged for _, _, judged in points)
    passed = sum(passed for _, passed, _ in points)
    return cases * sum(n * passed for n, passed, _ in points) < passed * sum(n * j for n, _, j in points)


class _Likelihood:
    """The log-likelihood of curves, by their 50 % point and their steepness (one over the spread)."""

    def __init__(self, points: Sequence[Count]) -> None:
        self._points = [(n, judged - passed, judged) for n, passed, judged in points]
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
        return steepness, self._value(half, steepness)

    def is_past(self, half: float) -> bool:
        """Whether `half` is too high: the best curve through it fails less often than the agent did."""
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
    """Adjacent numbers of actions: passes, expected passes and failures, variance of the passes."""

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
    """The p-value of Pearson's test; None if there are fewer than three groups large enough for it.

    Numbers of actions with few expected passes or failures are merged with their neighbours, because the
    chi-square approximation is poor for them, and in pure Python a simulated p-value would take seconds.
    """
    groups = list(_groups(sorted(points), half, spread))
    if len(groups) < 3:
        return None
    x = sum((group.passed - group.passes) ** 2 / group.variance for group in groups)
    return chi_square_tail(x, len(groups) - 2)


def _groups(points: Sequence[Count], half: float, spread: float) -> Iterator[_Group]:
    """Groups of neighbours, each as small as allowed; what is left over joins the last."""
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


class CurveTally:
    """Counts outcomes by their number of actions and stores none of them."""

    def __init__(self) -> None:
        self._tallies: dict[int, Tally] = {}

    def add(self, outcome: Outcome) -> None:
        self._tallies.setdefault(len(outcome.case.actions), Tally()).add(outcome)

    def capability(
        self, run: str, agent: str, model: str | None, threshold: float, span: tuple[int, int] | None = None
    ) -> Capability:
        """The curve. `span` is the range of numbers of actions for an adaptive design.

        Such a design skips some of them, so the limit is taken from the fitted curve, if there is one.
        """
        curve = tuple(measure_point(actions, tally) for actions, tally in sorted(self._tallies.items()))
        fit = fit_logistic([(point.actions, point.passed, point.passed + point.failed) for point in curve])
        if span and fit:
            limit, reached = fitted_limit(fit, threshold, *span)
        else:
            limit, reached = capability_limit(curve, threshold)
        within = [tally.errors for actions, tally in self._tallies.items() if limit and actions <= limit]
        return Capability(
            run=run,
            agent=agent,
            model=model,
            curve=curve,
            threshold=threshold,
            limit=limit,
            reached=reached,
            half=_half_within(curve, fit),
            fit=fit,
            errors={kind: sum(errors[kind] for errors in within) for kind in ERROR_KINDS},
        )


def measure_point(actions: int, tally: Tally) -> Point:
    """The point for all cases with this number of actions."""
    summary = tally.summary("", "")
    return Point(
        actions=actions,
        cases=summary.cases,
        passed=summary.passed,
        failed=summary.failed,
        success=summary.success,
        interval=summary.interval,
        chance=summary.chance,
        baselines=summary.baselines,
    )


def capability_limit(points: Sequence[Point], threshold: float) -> tuple[int | None, bool]:
    """The number of actions up to which success never fell below the threshold, and whether it ever did.

    Points without judged cases are skipped.
    """
    limit: int | None = None
    for point in sorted(points, key=lambda point: point.actions):
        if point.success is None:
            continue
        if point.success < threshold:
            return limit, True
        limit = point.actions
    return limit, False


def fitted_limit(fit: Fit, threshold: float, low: int, high: int) -> tuple[int | None, bool]:
    """The same for the fitted curve."""
    above = [size for size in range(low, high + 1) if logistic(size, fit.half.at, fit.spread) >= threshold]
    return (above[-1] if above else None), len(above) <= high - low


def _half_within(curve: Sequence[Point], fit: Fit | None) -> Half | None:
    """The 50 % point, if it is within the range that was tried; beyond that the curve is a guess."""
    tried = [point.actions for point in curve if point.success is not None]
    return fit.half if fit and tried[0] <= fit.half.at <= tried[-1] else None


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
        shares = ((size - half) / self._step + 0.5 for half, _, _ in self._curves)
        weights = (weight for _, _, weight in self._curves)
        return sum(max(0.0, min(1.0, share)) * weight for share, weight in zip(shares, weights, strict=True))

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


PORTION = 500  # cases requested at once, however many there are
DOUBT = 0.01  # probability of the 50 % point being in range at which it is considered outside
SLACK = 1.01  # factor by which an interval may be wider than wanted
IN_VAIN = 2  # batches of one size, none of them judged, after which it is given up

# Yields a number of actions and a number of cases; is sent how many passed and how many were judged.
Steps: TypeAlias = Generator[tuple[int, int], tuple[int, int], None]


class Design(msgspec.Struct, frozen=True):
    """The range of numbers of actions, and the cases for each: `per_pair` per two actions, at most `most`.

    With `stop`, no more actions are tried once less than `threshold` of the cases passed. `width` is the
    width of the 95 % interval of the 50 % point at which the adaptive design stops; None means as narrow as
    the full design would make it.
    """

    low: Annotated[int, Meta(ge=2)]
    high: int
    per_pair: int = 20
    most: int = 300
    threshold: float = 0.2
    stop: bool = True
    width: float | None = None

    @property
    def sizes(self) -> range:
        return range(self.low, self.high + 1)

    def cases_at(self, size: int) -> int:
        return min(self.most, self.per_pair * comb(size, 2))


def full_design(suite: Suite, design: Design) -> Inquiry[None]:
    """Try every number of actions in turn, until the agent is below the threshold."""
    return _inquire(suite, full_steps(design))


def adaptive_design(suite: Suite, design: Design, batch: int = 10) -> Inquiry[None]:
    """Try a few of the same cases at a time, those that tell most about the 50 % point.

    The number of cases of one size is not limited, but the total is: what the full design would run if it
    never stopped.
    """
    return _inquire(suite, adaptive_steps(design, batch))


def full_steps(design: Design) -> Steps:
    for size in design.sizes:
        passed, judged = yield size, design.cases_at(size)
        if design.stop and passed < design.threshold * judged:
            return


def adaptive_steps(design: Design, batch: int) -> Steps:
    left = sum(map(design.cases_at, design.sizes))
    asked, passed, judged = (dict.fromkeys(design.sizes, 0) for _ in range(3))
    while left > 0:
        counts = [(size, passed[size], judged[size]) for size in design.sizes if judged[size]]
        # If nothing can be judged at a size, there is no point in trying it again.
        sizes = [size for size in design.sizes if judged[size] or asked[size] < IN_VAIN * batch]
        belief = Belief(design.low, design.high, counts)
        share = sum(judged.values()) / (sum(asked.values()) or 1)
        if not sizes or _is_outside(sizes, belief) or _is_narrow(design, counts, share):
            return
        size, count = belief.most_telling(sizes, batch), min(batch, left)
        news = yield size, count
        left -= count
        asked[size] += count
        passed[size] += news[0]
        judged[size] += news[1]


def _is_outside(sizes: Sequence[int], belief: Belief) -> bool:
    """Whether the 50 % point is almost certainly outside the available sizes."""
    return belief.chance_below(sizes[0]) > 1 - DOUBT or belief.chance_below(sizes[-1]) < DOUBT


def _is_narrow(design: Design, counts: Sequence[Count], share: float) -> bool:
    """Whether the interval of the 50 % point is narrow enough."""
    fit = fit_logistic(counts)
    width = _width(fit)
    if fit is None or width is None:
        return False
    wanted = full_width(design, fit.half.at, fit.spread, share) if design.width is None else design.width
    return wanted is not None and width <= SLACK * wanted


def full_width(design: Design, half: float, spread: float, share: float = 1.0) -> float | None:
    """The expected width of the interval of the 50 % point after the full design.

    `share` is the share of cases that can be judged. Numbers of actions that may not be reached count with
    their expected number of cases.
    """
    counts, reached = list[Count](), 1.0
    for size in design.sizes:
        rate = logistic(size, half, spread)
        cases = round(reached * share * design.cases_at(size))
        counts.append((size, round(cases * rate), cases))
        if design.stop and cases:
            deviation = sqrt(rate * (1 - rate) / cases)
            reached *= 1 - NormalDist(rate, max(deviation, 1e-9)).cdf(design.threshold)
    return _width(fit_logistic(counts))


def _width(fit: Fit | None) -> float | None:
    low, high = fit.half.interval if fit else (None, None)
    return None if low is None or high is None else high - low


def _inquire(suite: Suite, steps: Steps) -> Inquiry[None]:
    """Run the cases of a design; those of one size are numbered from 0 in every design."""
    asked: dict[int, int] = {}
    try:
        size, count = next(steps)
        while True:
            first = asked.get(size, 0)
            asked[size] = first + count
            passed = judged = 0
            for start in range(first, first + count, PORTION):
                portion = range(start, min(start + PORTION, first + count))
                outcomes = yield _make_cases(suite, size, portion)
                verdicts = [outcome.verdict.verdict for outcome in outcomes]
                passed += verdicts.count("passed")
                judged += verdicts.count("passed") + verdicts.count("failed")
            size, count = steps.send((passed, judged))
    except StopIteration:
        return


def _make_cases(suite: Suite, size: int, numbers: range) -> list[Case]:
    part = msgspec.structs.replace(
        suite, low=size, high=size, seed=derive_seed(suite.seed, "capability", size)
    )
    return [make_case(part, number) for number in numbers]
