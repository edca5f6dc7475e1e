"""Confidence intervals and significance tests for rates."""

from collections.abc import Callable, Sequence
from math import copysign, erfc, exp, fsum, lgamma, log, sqrt, tanh

Z_95 = 1.959963984540054


def wilson(successes: int, trials: int, z: float = Z_95) -> tuple[float, float]:
    """The Wilson score interval of a rate; [0, 1] if there are no trials."""
    if trials == 0:
        return (0.0, 1.0)
    rate = successes / trials
    middle = rate + z * z / (2 * trials)
    spread = z * sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low, high = (middle - spread) / scale, (middle + spread) / scale
    # At the ends the interval touches 0 or 1 exactly; rounding must not exclude the rate itself.
    return (0.0 if successes == 0 else low, 1.0 if successes == trials else high)


def logistic(n: float, half: float, spread: float) -> float:
    """`1 / (1 + exp((n - half) / spread))`, which falls from 1 to 0 and is 50 % at `half`."""
    return 0.5 - 0.5 * tanh((n - half) / (2 * spread))  # this form can't overflow


def mcnemar(first_only: int, second_only: int) -> float:
    """The two-sided p-value of the exact McNemar test.

    It is how often two equally good systems differ at least this much in the cases that only one got right.
    """
    trials = first_only + second_only
    fewest = min(first_only, second_only)
    tail = fsum(exp(_log_choose(trials, k) - trials * log(2)) for k in range(fewest + 1))
    return min(1.0, 2 * tail)


def fisher_greater(a: int, b: int, c: int, d: int) -> float:
    """The one-sided p-value of Fisher's exact test on the table `a b / c d`.

    It is how often the first cell is at least `a` if rows and columns are independent.
    """
    row, column, total = a + b, a + c, a + b + c + d
    ways = _log_choose(total, column)
    tail = (
        exp(_log_choose(row, k) + _log_choose(total - row, column - k) - ways)
        for k in range(a, min(row, column) + 1)
    )
    return min(1.0, fsum(tail))


def holm(ps: Sequence[float]) -> list[float]:
    """Holm-corrected p-values of several tests, in the order given."""
    corrected = [1.0] * len(ps)
    least = 0.0
    for done, number in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        least = max(least, min(1.0, ps[number] * (len(ps) - done)))
        corrected[number] = least
    return corrected


def paired_interval(both: int, first_only: int, second_only: int, neither: int) -> tuple[float, float]:
    """Tango's 95 % score interval for the second rate minus the first, on the same cases.

    It contains the differences that a score test would not reject, and [-1, 1] if there are no cases.
    """
    cases = both + first_only + second_only + neither
    if cases == 0:
        return (-1.0, 1.0)
    seen = (second_only - first_only) / cases

    def score(difference: float) -> float:
        return _tango(first_only, second_only, cases, difference)

    low = -1.0 if seen == -1 else bisect(lambda given: score(given) < Z_95, -1.0, seen)
    high = 1.0 if seen == 1 else bisect(lambda given: score(given) < -Z_95, seen, 1.0)
    return (low, high)


def chi_square_tail(x: float, degrees: int) -> float:
    """The probability that a chi-square variable with this many degrees of freedom is at least `x`."""
    if x <= 0:
        return 1.0
    half = x / 2
    odd = degrees % 2
    # Two more degrees add one term; with one degree it is a squared normal variable, with none it is zero.
    terms = (exp(k / 2 * log(half) - half - lgamma(k / 2 + 1)) for k in range(odd, degrees - 1, 2))
    return min(1.0, fsum(terms) + (erfc(sqrt(half)) if odd else 0.0))


def bisect(holds: Callable[[float], bool], low: float, high: float, steps: int = 52) -> float:
    """The smallest value between `low` and `high` from which on `holds` is true."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return (low + high) / 2


def _tango(first_only: int, second_only: int, cases: int, difference: float) -> float:
    """How many standard errors the observed difference is above the given one.

    The standard error uses the maximum-likelihood rates under the given difference; the rate of cases that
    only the first gets right is the root of a quadratic equation.
    """
    excess = second_only - first_only - cases * difference
    linear = (2 * cases + first_only - second_only) * difference - first_only - second_only
    constant = -first_only * difference * (1 - difference)
    root = sqrt(max(0.0, linear * linear - 8 * cases * constant))
    rate = max(0.0, (root - linear) / (4 * cases))
    variance = cases * (2 * rate + difference * (1 - difference))
    return excess / sqrt(variance) if variance > 0 else copysign(float("inf"), excess)


def _log_choose(items: int, chosen: int) -> float:
    return lgamma(items + 1) - lgamma(chosen + 1) - lgamma(items - chosen + 1)
