"""A capability curve in words."""

from collections.abc import Iterator, Sequence

from misstep.core.capability import Capability, Half
from misstep.report.statistics import p_in_words
from misstep.report.text import plain

MISFIT = 0.01  # p-value under which a curve is said not to fit


def whole_percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def name_of(curve: Capability) -> str:
    """The agent with its model, on one line."""
    return plain(f"{curve.agent} · {curve.model}" if curve.model else curve.agent, 300)


def how_far(curve: Capability) -> str:
    """How far the agent gets: where its success passes 50 %, or else what is known instead."""
    if curve.half:
        return half_in_words(curve.half)
    if curve.reached:
        under = f"under {whole_percent(curve.threshold)}"
        return f"{under} from the start" if curve.limit is None else f"{under} after {curve.limit} actions"
    rates = [(point.actions, point.success) for point in curve.curve if point.success is not None]
    return f"{whole_percent(rates[-1][1])} at {rates[-1][0]} actions" if rates else "no case was judged"


def half_in_words(half: Half) -> str:
    """The point with its interval; an end that is open is a dash."""
    low, high = ("–" if end is None else f"{end:.1f}" for end in half.interval)
    return f"50 % at n = {half.at:.1f} [{low}, {high}]"


def limit_in_words(curve: Capability) -> str:
    """Up to how many actions success is at least at the threshold."""
    least = whole_percent(curve.threshold)
    if curve.limit is None:
        return f"not even {curve.curve[0].actions} actions: under {least} from the start"
    if not curve.reached:
        return f"at least {curve.limit} actions: never under {least}"
    return f"{curve.limit} actions: under {least} beyond"


def misfit_in_words(curve: Capability) -> str:
    """What to think of the fitted curve, where it does not fit; empty where it does."""
    if not curve.fit or curve.fit.misfit is None or curve.fit.misfit >= MISFIT:
        return ""
    return f"the curve does not fit the points ({p_in_words(curve.fit.misfit)}): go by the points"


def in_words(curves: Sequence[Capability]) -> str:
    """All curves, for those who don't see the picture."""
    return " ".join(f"{name_of(curve)}: {'; '.join((*_rates(curve), how_far(curve)))}." for curve in curves)


def _rates(curve: Capability) -> Iterator[str]:
    for point in curve.curve:
        if point.success is not None:
            judged = point.passed + point.failed
            yield f"{whole_percent(point.success)} of {judged} cases with {point.actions} actions"
