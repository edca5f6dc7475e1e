"""Success by the number of actions, from the outcomes as they arrive."""

from collections.abc import Sequence

from misstep.core.capability import Capability, Fit, Half, Point
from misstep.core.outcome import Outcome
from misstep.core.statistics import logistic
from misstep.core.summary import Tally
from misstep.core.verdict import ERROR_KINDS
from misstep.planning.capability.fitting import fit_logistic


class CurveTally:
    """Counts outcomes by their number of actions and keeps none of them."""

    def __init__(self) -> None:
        self._tallies: dict[int, Tally] = {}

    def add(self, outcome: Outcome) -> None:
        self._tallies.setdefault(len(outcome.case.actions), Tally()).add(outcome)

    def capability(
        self, run: str, agent: str, model: str | None, threshold: float, span: tuple[int, int] | None = None
    ) -> Capability:
        """The curve. `span` is the numbers of actions that an adaptive design chose from: it leaves some of
        them out, so that the limit is that of the fitted curve, if there is one."""
        curve = tuple(measure_point(actions, tally) for actions, tally in sorted(self._tallies.items()))
        fit = fit_logistic([(point.actions, point.passed, point.passed + point.failed) for point in curve])
        if span and fit:
            limit, reached = fitted_limit(fit, threshold, *span)
        else:
            limit, reached = capability_limit(curve, threshold)
        within = [tally.errors for actions, tally in self._tallies.items() if limit and actions <= limit]
        return Capability(
            run=run,
            agent=agent,
            model=model,
            curve=curve,
            threshold=threshold,
            limit=limit,
            reached=reached,
            half=_half_within(curve, fit),
            fit=fit,
            errors={kind: sum(errors[kind] for errors in within) for kind in ERROR_KINDS},
        )


def measure_point(actions: int, tally: Tally) -> Point:
    """The point that stands for all cases with so many actions."""
    summary = tally.summary("", "")
    return Point(
        actions=actions,
        cases=summary.cases,
        passed=summary.passed,
        failed=summary.failed,
        success=summary.success,
        interval=summary.interval,
        chance=summary.chance,
        baselines=summary.baselines,
    )


def capability_limit(points: Sequence[Point], threshold: float) -> tuple[int | None, bool]:
    """Up to how many actions success never fell under the threshold, and whether it ever did.

    Points without judged cases say neither.
    """
    limit: int | None = None
    for point in sorted(points, key=lambda point: point.actions):
        if point.success is None:
            continue
        if point.success < threshold:
            return limit, True
        limit = point.actions
    return limit, False


def fitted_limit(fit: Fit, threshold: float, low: int, high: int) -> tuple[int | None, bool]:
    """The same by the fitted curve."""
    above = [size for size in range(low, high + 1) if logistic(size, fit.half.at, fit.spread) >= threshold]
    return (above[-1] if above else None), len(above) <= high - low


def _half_within(curve: Sequence[Point], fit: Fit | None) -> Half | None:
    """The 50 % point, where it lies within what was tried; beyond that the curve is a guess."""
    tried = [point.actions for point in curve if point.success is not None]
    return fit.half if fit and tried[0] <= fit.half.at <= tried[-1] else None
