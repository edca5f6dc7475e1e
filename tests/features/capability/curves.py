"""Capability curves for tests of what is made of them."""

from collections.abc import Sequence

from misstep.core.results.capability import Capability, Fit, Half, Point
from misstep.core.stats import wilson


def point(actions: int, passed: int, cases: int, chance: float | None = None) -> Point:
    success = passed / cases if cases else None
    return Point(actions, cases, passed, cases - passed, success, wilson(passed, cases), chance)


def capability(
    agent: str, points: Sequence[Point], half: Half | None = None, spread: float = 1.0
) -> Capability:
    """A curve; it is fitted where it has a 50 % point."""
    fit = Fit(half, spread) if half else None
    errors = {"timeout": 0, "act": 1, "lost": 0, "parameter": 0, "order": 3}
    under = [each.actions for each in points if each.success is not None and each.success < 0.2]
    limit = points[-1].actions if points and not under else None
    return Capability("r1", agent, None, tuple(points), 0.2, limit, bool(under), half, fit, errors)


def falling(agent: str, sizes: range, half: float) -> Capability:
    """One that falls from all to nothing, with a fitted curve and its 50 % point."""
    shares = [max(0.0, min(1.0, 0.5 + (half - size) / 8)) for size in sizes]
    points = [
        point(size, round(200 * share), 200, 1 / size) for size, share in zip(sizes, shares, strict=True)
    ]
    return capability(agent, points, Half(half, (half - 0.4, half + 0.6)), 1.3)
