"""The Wilson interval against published values and against its definition."""

from math import isclose, sqrt

import pytest

from misstep.core.statistics import Z_95, wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_published_values(successes: int, trials: int, low: float, high: float) -> None:
    found = wilson(successes, trials)
    assert found == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("trials", [1, 2, 7, 50, 1000])
def test_the_ends_solve_the_defining_equation(trials: int) -> None:
    for successes in range(trials + 1):
        rate = successes / trials
        low, high = wilson(successes, trials)
        assert 0 <= low <= rate <= high <= 1
        for end in (low, high):
            if 0 < end < 1:
                assert isclose(
                    abs(rate - end), Z_95 * sqrt(end * (1 - end) / trials), rel_tol=1e-9, abs_tol=1e-12
                )


def test_nothing_tried_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
