"""Which cases to run to find out how far an agent gets."""

from collections.abc import Generator, Sequence
from math import comb, sqrt
from statistics import NormalDist
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from misstep.core.campaign import Inquiry
from misstep.core.capability import Fit
from misstep.core.case import Case
from misstep.core.dice import derive_seed
from misstep.core.statistics import logistic
from misstep.planning.capability.belief import Belief
from misstep.planning.capability.fitting import Count, fit_logistic
from misstep.planning.synthesis.suite import Suite, make_case

PORTION = 500  # cases that are asked for at once, however many there are to be
DOUBT = 0.01  # with which 50 % may still lie within what can be asked for, when it seems to lie outside
SLACK = 1.01  # by how much an interval may be wider and still be called as narrow
IN_VAIN = 2  # batches with one number of actions, when none of their cases could be judged

# Asks for so many cases with so many actions, and is sent how many passed and how many were judged.
Steps: TypeAlias = Generator[tuple[int, int], tuple[int, int], None]


class Design(msgspec.Struct, frozen=True):
    """From how many actions to how many, and with how many cases each: `per_pair` for every two actions, but
    not more than `most`.

    With `stop`, no more actions are tried once less than `threshold` of the cases passed. `width` is that of
    the 95 % interval of the 50 % point at which the adaptive design is content; None is as narrow as the full
    design would make it.
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
    """Ask for every number of actions in turn, until the agent is under the threshold."""
    return _inquire(suite, full_steps(design))


def adaptive_design(suite: Suite, design: Design, batch: int = 10) -> Inquiry[None]:
    """Ask for a few of the same cases at a time, those that tell most about where the agent is at 50 %.

    There are no limits to cases with one number of actions, but one to all: what the full design would ask
    for if it never stopped.
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
        # Where nothing can be judged there is no sense in asking on.
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
    """Whether there is next to no doubt that the agent is at 50 % nowhere in what can be asked for."""
    return belief.chance_below(sizes[0]) > 1 - DOUBT or belief.chance_below(sizes[-1]) < DOUBT


def _is_narrow(design: Design, counts: Sequence[Count], share: float) -> bool:
    """Whether the interval of the 50 % point is as narrow as it has to be."""
    fit = fit_logistic(counts)
    width = _width(fit)
    if fit is None or width is None:
        return False
    wanted = full_width(design, fit.half.at, fit.spread, share) if design.width is None else design.width
    return wanted is not None and width <= SLACK * wanted


def full_width(design: Design, half: float, spread: float, share: float = 1.0) -> float | None:
    """How wide the interval of the 50 % point becomes when the full design goes just as expected.

    `share` is that of the cases that can be judged. Numbers of actions that may not be reached count for as
    many cases as they have on average.
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
    """Ask for the cases of a design; those with so many actions are numbered from 0 on in every design."""
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
