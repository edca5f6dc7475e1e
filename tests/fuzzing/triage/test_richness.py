"""Chao1 against what EstimateS gives, and against numbers worked out by hand."""

from math import exp, log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.core.results.fuzzing import Richness
from misstep.fuzzing.triage.defect_index import chao1


@pytest.mark.parametrize(
    ("abundances", "estimate", "low", "high"),
    [
        ([0, 1, 1, 4, 2, 5, 2, 4, 1, 2], 9.75, 9.07, 17.45),
        ([0, 2, 2, 4, 5, 0], 4, 4, 4.95),  # nothing seen once
        ([0, 1, 1, 4, 5, 0], 5, 4.08, 17.27),  # nothing seen twice
    ],
)
def test_estimates_has_the_same_numbers(
    abundances: list[int], estimate: float, low: float, high: float
) -> None:
    found = chao1(abundances)
    assert found.estimate == estimate
    assert (found.low, found.high) == (pytest.approx(low, abs=0.006), pytest.approx(high, abs=0.006))


def test_one_seen_once_by_hand() -> None:
    missed = exp(-1)
    high = (1 + 1.959964 * sqrt(missed * (1 - missed))) / (1 - missed)
    assert chao1([1]) == Richness(1.0, 1.0, pytest.approx(high))


def test_three_once_and_one_twice_by_hand() -> None:
    # 4 seen; unseen 3·2/(2·2) = 1.5; variance 1.5 + 3·25/16 + 9·1·4/64 = 6.75.
    spread = exp(1.959964 * sqrt(log(1 + 6.75 / 1.5**2)))
    assert chao1([1, 1, 1, 2]) == Richness(
        5.5, pytest.approx(4 + 1.5 / spread), pytest.approx(4 + 1.5 * spread)
    )


def test_nothing_seen_is_nothing() -> None:
    assert chao1([]) == Richness(0.0, 0.0, 0.0)
    assert chao1([0, 0]) == Richness(0.0, 0.0, 0.0)


@given(st.lists(st.integers(0, 40), max_size=40))
def test_the_interval_holds_the_estimate_and_never_starts_below_what_was_seen(abundances: list[int]) -> None:
    found, seen = chao1(abundances), sum(count > 0 for count in abundances)
    assert seen <= found.low <= found.estimate + 1e-9
    assert found.estimate <= found.high + 1e-9
