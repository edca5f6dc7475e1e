"""The fitted curve against a likelihood that is looked up everywhere."""

from collections.abc import Sequence
from math import exp, inf, log, sqrt

import pytest

from misstep.core.results.capability import Fit
from misstep.core.stats import logistic
from misstep.planning.curve_fitting import Count, fit_logistic
from tests.planning.capability_agents import draws

FALLING: list[list[Count]] = [
    [(2, 20, 20), (3, 58, 60), (4, 105, 120), (5, 140, 200), (6, 150, 300), (7, 61, 300)],
    [(3, 9, 10), (4, 6, 10), (5, 2, 10)],
    [(2, 18, 20), (3, 55, 60), (4, 30, 120)],
    [(5, 20, 20), (6, 0, 20)],  # separated
    [(2, 30, 30), (4, 29, 30), (7, 1, 30), (9, 0, 30)],
    [(4, 70, 100), (8, 40, 100)],
]


def likelihood(points: Sequence[Count], half: float, spread: float) -> float:
    """As it is written in books, with the prior on the spread."""
    value = log(sqrt(spread / (1 + spread * spread)))
    for n, passed, judged in points:
        rate = 1 / (1 + exp(max(-700.0, min(700.0, (n - half) / spread))))
        for count, share in ((passed, rate), (judged - passed, 1 - rate)):
            value += count * (log(share) if share > 0 else -inf) if count else 0.0
    return value


def profiled(points: Sequence[Count], half: float) -> float:
    return max(likelihood(points, half, exp(step / 25)) for step in range(-230, 60))


@pytest.mark.parametrize("points", FALLING)
def test_the_curve_is_the_likeliest(points: list[Count]) -> None:
    fit = fitted(points)
    best = likelihood(points, fit.half.at, fit.spread)
    for step in range(181):
        half = 1 + step / 18
        assert best >= profiled(points, half) - 1e-6


@pytest.mark.parametrize("points", FALLING)
def test_the_interval_is_where_the_profile_has_dropped(points: list[Count]) -> None:
    fit = fitted(points)
    cut = likelihood(points, fit.half.at, fit.spread) - 3.841459 / 2
    low, high = fit.half.interval
    assert low is not None
    assert high is not None
    assert low < fit.half.at < high
    for end, outwards in ((low, -1), (high, 1)):
        assert profiled(points, end) == pytest.approx(cut, abs=0.02)
        assert profiled(points, end + outwards * 0.1) < cut
        assert profiled(points, end - outwards * 0.1 * (high - low)) > cut


def fitted(points: list[Count]) -> Fit:
    fit = fit_logistic(points)
    assert fit is not None
    assert fit.spread > 0
    return fit


@pytest.mark.parametrize(
    "points",
    [
        [],
        [(4, 0, 0), (5, 0, 0)],
        [(4, 3, 10)],
        [(4, 3, 10), (5, 0, 0)],
        [(4, 10, 10), (5, 10, 10)],
        [(4, 0, 10), (5, 0, 10)],
        [(4, 3, 10), (5, 3, 10)],
        [(4, 3, 10), (5, 4, 10)],
        [(2, 9, 10), (3, 1, 10), (4, 10, 10)],
    ],
)
def test_nothing_is_fitted_to_what_does_not_fall(points: list[Count]) -> None:
    assert fit_logistic(points) is None


@pytest.mark.parametrize("cases", [3, 20, 300, 5000])
def test_all_and_then_nothing_leaves_the_gap_in_doubt(cases: int) -> None:
    """A step may be anywhere between the two sizes, whatever the number of cases."""
    fit = fitted([(3, cases, cases), (5, cases, cases), (6, 0, cases), (7, 0, cases)])
    low, high = fit.half.interval
    assert fit.half.at == pytest.approx(5.5, abs=0.01)
    assert low == pytest.approx(5.0, abs=0.1)
    assert high == pytest.approx(6.0, abs=0.1)


def test_ends_are_open_where_nothing_tells_of_them() -> None:
    fit = fitted([(2, 20, 20), (3, 60, 60), (4, 117, 120)])
    low, high = fit.half.interval
    assert low is not None
    assert 4 < low < fit.half.at
    assert high is None
    fit = fitted([(4, 3, 20), (5, 1, 20)])
    assert fit.half.interval[0] is None
    assert fitted([(4, 6, 10), (5, 5, 10)]).half.interval == (None, None)


def test_neither_the_order_of_points_nor_unjudged_ones_matter() -> None:
    points = FALLING[0]
    fit = fitted([(9, 0, 0), *reversed(points)])
    assert fit.half.at == pytest.approx(fitted(points).half.at, abs=1e-5)
    assert fit.misfit == pytest.approx(fitted(points).misfit, abs=1e-4)


SIZES = {2: 20, 3: 60, 4: 120, 5: 200, 6: 300, 7: 300, 8: 300}


def misfits(success: dict[int, float], times: int) -> list[float]:
    agent = draws(success.__getitem__, 11)
    fits = [fitted([(n, *agent(n, count)) for n, count in SIZES.items()]) for _ in range(times)]
    return [fit.misfit for fit in fits if fit.misfit is not None]


def test_points_on_a_curve_are_seldom_said_not_to_be() -> None:
    found = misfits({n: logistic(n, 5.5, 0.9) for n in SIZES}, 400)
    assert len(found) == 400
    assert 0.025 < sum(p < 0.05 for p in found) / 400 < 0.085
    assert 0.42 < sum(p < 0.5 for p in found) / 400 < 0.58


def test_points_off_a_curve_are_said_to_be() -> None:
    """An agent that never falls under what luck achieves, and one that falls, recovers and falls."""
    floor = misfits({n: 0.2 + 0.8 * logistic(n, 4.5, 0.5) for n in SIZES}, 60)
    waves = misfits({2: 0.95, 3: 0.6, 4: 0.9, 5: 0.6, 6: 0.7, 7: 0.3, 8: 0.2}, 60)
    assert sum(p < 0.05 for p in floor) > 50
    assert sum(p < 0.05 for p in waves) > 50


def test_too_few_points_say_nothing_of_the_curve() -> None:
    assert fitted([(5, 20, 20), (6, 0, 20)]).misfit is None
    assert fitted([(4, 70, 100), (8, 40, 100)]).misfit is None
    assert fitted([(3, 3, 3), (4, 2, 3), (5, 1, 3), (6, 0, 3)]).misfit is None
