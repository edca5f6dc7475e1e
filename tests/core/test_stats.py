"""Intervals and tests against published values, their definitions and brute force."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import comb, exp, factorial, gamma, isclose, log, sqrt

import pytest

from misstep.core.stats import (
    Z_95,
    bisect,
    chi_square_tail,
    fisher_greater,
    holm,
    logistic,
    mcnemar,
    paired_interval,
    wilson,
)


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
    assert paired_interval(0, 0, 0, 0) == (-1.0, 1.0)
    assert mcnemar(0, 0) == 1.0
    assert fisher_greater(0, 0, 0, 0) == 1.0
    assert holm([]) == []


def test_the_logistic_curve_is_what_it_says() -> None:
    for n, half, spread in product((2, 5, 9), (0.5, 5.0, 7.3), (0.2, 1.0, 4.0)):
        assert logistic(n, half, spread) == pytest.approx(1 / (1 + exp((n - half) / spread)), rel=1e-9)
    assert logistic(6.2, 6.2, 0.3) == 0.5
    assert (logistic(1e6, 5, 1e-6), logistic(-1e6, 5, 1e-6)) == (0.0, 1.0)


def test_mcnemar_counts_all_ways_in_which_a_coin_falls() -> None:
    for trials in range(1, 11):
        heads = [sum(tosses) for tosses in product((0, 1), repeat=trials)]
        for first in range(trials + 1):
            gap = abs(2 * first - trials)
            as_far = sum(abs(2 * head - trials) >= gap for head in heads)
            assert mcnemar(first, trials - first) == pytest.approx(as_far / len(heads), rel=1e-9)


@pytest.mark.parametrize(("first", "second"), [(480, 520), (1400, 1600), (0, 40), (1500, 1500), (900, 1300)])
def test_mcnemar_is_exact_for_thousands(first: int, second: int) -> None:
    trials = first + second
    ways = 2 * sum(comb(trials, k) for k in range(min(first, second) + 1))
    assert mcnemar(first, second) == pytest.approx(min(1.0, ways / 2**trials), rel=1e-8)


def test_fisher_counts_all_ways_to_fill_the_columns() -> None:
    for row, column, total in [(3, 4, 9), (5, 5, 10), (2, 7, 10), (6, 1, 8), (4, 4, 4), (0, 3, 6)]:
        ways = [sum(item < row for item in chosen) for chosen in combinations(range(total), column)]
        for a in range(max(0, row + column - total), min(row, column) + 1):
            table = (a, row - a, column - a, total - row - column + a)
            expected = sum(way >= a for way in ways) / len(ways)
            assert fisher_greater(*table) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("table", [(60, 340, 500, 4100), (1200, 800, 900, 1100), (7, 3, 0, 4000)])
def test_fisher_is_exact_for_thousands(table: tuple[int, int, int, int]) -> None:
    a, b, c, d = table
    row, column, total = a + b, a + c, a + b + c + d
    ways = sum(comb(row, k) * comb(total - row, column - k) for k in range(a, min(row, column) + 1))
    assert fisher_greater(*table) == pytest.approx(ways / comb(total, column), rel=1e-8)


def rejected(ps: Sequence[float], level: float) -> set[int]:
    """Holm's procedure as it is told: the smallest first, until one is not small enough."""
    found = set[int]()
    for done, number in enumerate(sorted(range(len(ps)), key=lambda number: ps[number])):
        if ps[number] > level / (len(ps) - done):
            break
        found.add(number)
    return found


@pytest.mark.parametrize(
    "ps", [[0.01], [0.04, 0.001, 0.03], [0.5, 0.02, 0.02, 0.9], [0.012, 0.011, 0.04, 0.3]]
)
def test_holm_rejects_what_the_procedure_rejects(ps: list[float]) -> None:
    corrected = holm(ps)
    assert all(one <= other for one, other in zip(ps, corrected, strict=True))
    assert max(corrected) <= 1
    for step in range(1, 1000):
        level = (step + 0.5) / 1000
        assert {number for number, p in enumerate(corrected) if p <= level} == rejected(ps, level)


def likeliest_score(first: int, second: int, cases: int, difference: float) -> float:
    """The score of a difference, with the likeliest rates under it sought by ternary search."""

    def likelihood(rate: float) -> float:
        rates = (rate, rate + difference, 1 - 2 * rate - difference)
        counts = (first, second, cases - first - second)
        return sum(n * (log(p) if p > 0 else -1e9) for n, p in zip(counts, rates, strict=True) if n)

    low, high = max(0.0, -difference), (1 - difference) / 2
    for _ in range(200):
        one, other = low + (high - low) / 3, high - (high - low) / 3
        low, high = (one, high) if likelihood(one) < likelihood(other) else (low, other)
    variance = 2 * low + difference - difference**2
    return (second - first - cases * difference) / sqrt(cases * variance)


@pytest.mark.parametrize(
    "table", [(40, 12, 5, 43), (10, 1, 6, 3), (300, 80, 121, 499), (9, 0, 3, 8), (20, 0, 0, 5), (0, 4, 0, 0)]
)
def test_the_paired_interval_holds_what_the_score_test_does_not_reject(
    table: tuple[int, int, int, int],
) -> None:
    _, first, second, _ = table
    cases = sum(table)
    low, high = paired_interval(*table)
    assert -1 <= low <= (second - first) / cases <= high <= 1
    if low > -1:
        assert likeliest_score(first, second, cases, low) == pytest.approx(Z_95, abs=1e-4)
    if high < 1:
        assert likeliest_score(first, second, cases, high) == pytest.approx(-Z_95, abs=1e-4)
    both, _, _, neither = table
    assert paired_interval(both, second, first, neither) == pytest.approx((-high, -low), abs=1e-9)


def discordant(cases: int) -> Iterator[tuple[int, int]]:
    return ((first, second) for first in range(cases + 1) for second in range(cases + 1 - first))


@pytest.mark.parametrize("rates", [(0.1, 0.2), (0.3, 0.3), (0.02, 0.12), (0.25, 0.05)])
def test_the_paired_interval_holds_the_truth_as_often_as_it_says(rates: tuple[float, float]) -> None:
    cases, covered = 40, 0.0
    for first, second in discordant(cases):
        low, high = paired_interval(0, first, second, cases - first - second)
        if low <= rates[1] - rates[0] <= high:
            rest = cases - first - second
            ways = factorial(cases) // (factorial(first) * factorial(second) * factorial(rest))
            covered += ways * rates[0] ** first * rates[1] ** second * (1 - sum(rates)) ** rest
    assert 0.935 < covered < 0.98


@pytest.mark.parametrize(
    ("x", "degrees", "tail"),
    [
        (3.841459, 1, 0.05),
        (5.991465, 2, 0.05),
        (7.814728, 3, 0.05),
        (18.307038, 10, 0.05),
        (6.634897, 1, 0.01),
    ],
)
def test_published_quantiles(x: float, degrees: int, tail: float) -> None:
    assert chi_square_tail(x, degrees) == pytest.approx(tail, rel=1e-5)


@pytest.mark.parametrize("degrees", [2, 3, 4, 5, 7, 12])
def test_the_tail_is_the_area_under_the_density(degrees: int) -> None:
    def density(x: float) -> float:
        return x ** (degrees / 2 - 1) * exp(-x / 2) / (2 ** (degrees / 2) * gamma(degrees / 2))

    step = 0.01
    for x in (0.5, 2.0, 9.0, 30.0):
        area = step * sum(density(x + step * (k + 0.5)) for k in range(int(90 / step)))
        assert chi_square_tail(x, degrees) == pytest.approx(area, rel=1e-4)
    assert chi_square_tail(0, degrees) == 1.0


def test_bisection_finds_where_something_begins_to_hold() -> None:
    assert bisect(lambda x: x * x > 2, 0, 2) == pytest.approx(sqrt(2), abs=1e-12)
    assert bisect(lambda x: x > 7, 0, 16, 4) == pytest.approx(7, abs=1)
