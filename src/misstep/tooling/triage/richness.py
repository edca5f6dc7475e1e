"""How many defects there are in all, by how often those that were seen were seen."""

from collections.abc import Iterable, Sequence
from math import exp, log, sqrt

from misstep.core.finding import Richness
from misstep.core.statistics import Z_95


def chao1(abundances: Iterable[int]) -> Richness:
    """Chao's estimate with the bias correction, and its log-normal 95 % interval, as EstimateS has them.

    `abundances` are how often each defect was seen. The interval never starts below the number seen.
    """
    counts = [count for count in abundances if count > 0]
    seen, once, twice = len(counts), counts.count(1), counts.count(2)
    unseen = once * (once - 1) / (2 * (twice + 1))
    if not unseen:
        return Richness(float(seen), *_around_seen(counts)) if seen else Richness(0.0, 0.0, 0.0)
    estimate = seen + unseen
    spread = exp(Z_95 * sqrt(log(1 + _variance(once, twice, estimate) / unseen**2)))
    return Richness(estimate, seen + unseen / spread, seen + unseen * spread)


def _variance(once: int, twice: int, estimate: float) -> float:
    first = once * (once - 1) / (2 * (twice + 1)) + once * (2 * once - 1) ** 2 / (4 * (twice + 1) ** 2)
    if not twice:
        return first - once**4 / (4 * estimate)
    return first + once**2 * twice * (once - 1) ** 2 / (4 * (twice + 1) ** 4)


def _around_seen(counts: Sequence[int]) -> tuple[float, float]:
    """The interval where nothing speaks for more defects than were seen."""
    seen = len(counts)
    missed = exp(-sum(counts) / seen)
    width = Z_95 * sqrt(seen * missed * (1 - missed))
    return max(float(seen), (seen - width) / (1 - missed)), (seen + width) / (1 - missed)
