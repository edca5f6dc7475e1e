"""A capability curve in words."""

from collections.abc import Iterator, Sequence

from misstep.core.capability import Capability, Half
from misstep.report.naming import IN_FULL, agent_name
from misstep.report.published import Level
from misstep.report.statistics import p_in_words

PAPER = "PDoctor paper"
OTHER_PROBLEMS = f"{PAPER}: other problems than these"
NOTHING_JUDGED = "no case was judged"
MISFIT = 0.01  # p-value under which a curve is said not to fit


def whole_percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def how_far(curve: Capability) -> str:
    """How far the agent gets: where its success passes 50 %, or else what is known instead."""
    if curve.half:
        return _half_in_words(curve.half)
    rates = {point.actions: point.success for point in curve.curve if point.success is not None}
    if not rates:
        return NOTHING_JUDGED
    if min(rates.values()) > 0.5:
        return f"above 50 % up to n = {max(rates)}"
    if max(rates.values()) < 0.5:
        return f"below 50 % from n = {min(rates)} on"
    if curve.reached:
        under = f"under {whole_percent(curve.threshold)}"
        return f"{under} from the start" if curve.limit is None else f"{under} after {curve.limit} actions"
    return f"{whole_percent(rates[max(rates)])} at {max(rates)} actions"


def _half_in_words(half: Half) -> str:
    """The point with its interval; an end that is open is a dash."""
    low, high = ("–" if end is None else f"{end:.1f}" for end in half.interval)
    return f"50 % at n = {half.at:.1f} [{low}, {high}]"


def limit_in_words(curve: Capability) -> str:
    """Up to how many actions success is at least at the threshold; empty where nothing is known."""
    least = whole_percent(curve.threshold)
    if not curve.reached:
        never = f"at least {curve.limit} actions: never under {least}"
        return "" if curve.limit is None else never
    if curve.limit is None:
        first = min(point.actions for point in curve.curve if point.success is not None)
        return f"not even {first} actions: under {least} from the start"
    return f"{curve.limit} actions: under {least} beyond"


def misfit_in_words(curve: Capability) -> str:
    """What to think of the fitted curve, where it does not fit; empty where it does."""
    if not curve.fit or curve.fit.misfit is None or curve.fit.misfit >= MISFIT:
        return ""
    return f"the curve does not fit the points ({p_in_words(curve.fit.misfit)}): go by the points"


def level_name(level: Level) -> str:
    return f"{level.model} in the {PAPER}"


def level_in_words(level: Level) -> str:
    """The rate of the model's best agent, and where its agents are under the threshold."""
    (low, high), best = level.actions, level.best
    rate = f"{whole_percent(best.success)} with {low}–{high} actions ({best.framework})"
    return f"{rate}, under {whole_percent(level.threshold)} at {level.limit}"


def in_words(curves: Sequence[Capability], levels: Sequence[Level] = ()) -> str:
    """All that is drawn, for those who don't see the picture."""
    told = [
        f"{agent_name(curve, IN_FULL)}: {'; '.join((*_rates(curve), how_far(curve)))}" for curve in curves
    ]
    told += [f"{level_name(level)}: {level_in_words(level)}" for level in levels]
    return " ".join(f"{each}." for each in (*told, *([OTHER_PROBLEMS] if levels else [])))


def _rates(curve: Capability) -> Iterator[str]:
    for point in curve.curve:
        if point.success is not None:
            judged = point.passed + point.failed
            yield f"{whole_percent(point.success)} of {judged} cases with {point.actions} actions"
