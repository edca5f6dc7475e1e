"""Measures an agent's success rate by number of actions: which cases to run, and the fitted curve.

The adaptive design keeps a posterior over logistic curves and runs the cases that tell most about the 50 %
point.
"""

from collections.abc import Generator, Sequence
from math import comb, sqrt
from statistics import NormalDist
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from misstep.core.outcome import ERROR_KINDS, Outcome
from misstep.core.results.capability import Capability, Fit, Point
from misstep.core.results.summary import Tally
from misstep.core.rng import derive_seed
from misstep.core.run import Inquiry
from misstep.core.stats import logistic
from misstep.planning.curve_fitting import Belief, Count, fit_logistic
from misstep.planning.synthesis.suite import Suite, make_case


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
        curve = tuple(_point(actions, tally) for actions, tally in sorted(self._tallies.items()))
        fit = fit_logistic([(point.actions, point.passed, point.passed + point.failed) for point in curve])
        limit, reached = capability_limit(curve, threshold)
        if span and fit:
            sizes = range(span[0], span[1] + 1)
            above = [size for size in sizes if logistic(size, fit.half.at, fit.spread) >= threshold]
            limit, reached = (above[-1] if above else None), len(above) < len(sizes)
        tried = [point.actions for point in curve if point.success is not None]
        within = [tally.errors for actions, tally in self._tallies.items() if limit and actions <= limit]
        return Capability(
            run=run,
            agent=agent,
            model=model,
            curve=curve,
            threshold=threshold,
            limit=limit,
            reached=reached,
            # Beyond the range that was tried the curve is a guess.
            half=fit.half if fit and tried[0] <= fit.half.at <= tried[-1] else None,
            fit=fit,
            errors={kind: sum(errors[kind] for errors in within) for kind in ERROR_KINDS},
        )


def _point(actions: int, tally: Tally) -> Point:
    total = tally.summary("", "")
    rates = (total.success, total.interval, total.chance, total.baselines)
    return Point(actions, total.cases, total.passed, total.failed, *rates)


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
        if not sizes or belief.chance_below(sizes[0]) > 1 - DOUBT or belief.chance_below(sizes[-1]) < DOUBT:
            return  # the 50 % point is almost certainly outside the available sizes
        if _is_narrow(design, counts, share):
            return
        size, count = belief.most_telling(sizes, batch), min(batch, left)
        news = yield size, count
        left -= count
        asked[size] += count
        passed[size] += news[0]
        judged[size] += news[1]


def _is_narrow(design: Design, counts: Sequence[Count], share: float) -> bool:
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
            seed = derive_seed(suite.seed, "capability", size)
            part = msgspec.structs.replace(suite, low=size, high=size, seed=seed)
            passed = judged = 0
            for start in range(first, first + count, PORTION):
                portion = range(start, min(start + PORTION, first + count))
                outcomes = yield [make_case(part, number) for number in portion]
                verdicts = [outcome.verdict.verdict for outcome in outcomes]
                passed += verdicts.count("passed")
                judged += verdicts.count("passed") + verdicts.count("failed")
            size, count = steps.send((passed, judged))
    except StopIteration:
        return
