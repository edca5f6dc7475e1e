"""Rates with their uncertainty."""

from math import sqrt

Z_95 = 1.959963984540054


def wilson(successes: int, trials: int, z: float = Z_95) -> tuple[float, float]:
    """The Wilson score interval of a rate; the whole unit interval where nothing was tried."""
    if trials == 0:
        return (0.0, 1.0)
    rate = successes / trials
    middle = rate + z * z / (2 * trials)
    spread = z * sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low, high = (middle - spread) / scale, (middle + spread) / scale
    # At the ends the interval touches 0 or 1 exactly; rounding must not push the rate out of it.
    return (0.0 if successes == 0 else low, 1.0 if successes == trials else high)
