"""Beliefs against a posterior that is added up everywhere."""

from collections.abc import Sequence
from math import exp, log, sqrt

import pytest

from misstep.core.stats import logistic
from misstep.planning.curve_fitting import Belief, Count

KNOWN: list[list[Count]] = [
    [],
    [(5, 10, 10)],
    [(5, 10, 10), (9, 0, 10)],
    [(2, 10, 10), (5, 6, 10), (6, 2, 10)],
    [(5, 100, 150), (6, 60, 150), (8, 1, 20)],
    [(6, 199, 300), (7, 20, 300)],
]


def posterior(counts: Sequence[Count]) -> dict[tuple[float, float], float]:
    """Every place between 0 and 11 and every spread, finely, as likely as the counts make it."""
    weights = dict[tuple[float, float], float]()
    for place in range(441):
        for step in range(80):
            half, spread = place / 40, 0.1 * 50 ** (step / 79)
            fit = 0.0
            for n, passed, judged in counts:
                rate = min(1 - 1e-15, max(1e-15, logistic(n, half, spread)))
                fit += passed * log(rate) + (judged - passed) * log(1 - rate)
            weights[half, spread] = fit
    best = max(weights.values())
    scaled = {curve: exp(fit - best) for curve, fit in weights.items()}
    total = sum(scaled.values())
    return {curve: weight / total for curve, weight in scaled.items()}


@pytest.mark.parametrize("counts", KNOWN)
def test_where_half_is_thought_to_lie(counts: list[Count]) -> None:
    belief, everywhere = Belief(2, 9, counts), posterior(counts)
    for size in (2, 4, 5.5, 6, 6.5, 7, 9):
        expected = sum(
            w * min(1.0, max(0.0, 0.5 + 40 * (size - half))) for (half, _), w in everywhere.items()
        )
        assert belief.chance_below(size) == pytest.approx(expected, abs=0.02)


def after(counts: Sequence[Count], half: float, spread: float) -> float:
    """The variance of the 50 % point that is to be expected for one curve, by a matrix turned round."""
    place, both, scale = (2 / 11) ** 2, 0.0, 1.0
    for n, _, judged in counts:
        rate = logistic(n, half, spread)
        by_place, by_scale = 1 / spread, (n - half) / spread
        place += judged * rate * (1 - rate) * by_place**2
        both += judged * rate * (1 - rate) * by_place * by_scale
        scale += judged * rate * (1 - rate) * by_scale**2
    return 1 / (place - both**2 / scale)


@pytest.mark.parametrize("counts", KNOWN[1:])
def test_what_is_asked_next_leaves_least_doubt(counts: list[Count]) -> None:
    likely = {curve: weight for curve, weight in posterior(counts).items() if weight > 1e-5}
    expected = {
        size: sum(w * after([*counts, (size, 0, 10)], *curve) for curve, w in likely.items())
        for size in range(2, 10)
    }
    chosen = Belief(2, 9, counts).most_telling(range(2, 10), 10)
    assert sqrt(expected[chosen]) < 1.02 * sqrt(min(expected.values()))


def test_the_middle_is_asked_first() -> None:
    assert Belief(2, 9, []).most_telling(range(2, 10), 10) in (5, 6)
    assert Belief(2, 20, []).most_telling(range(2, 21), 10) in (10, 11, 12)


def test_only_what_may_be_asked_is_chosen() -> None:
    assert Belief(2, 9, KNOWN[4]).most_telling([3, 9], 10) in (3, 9)
