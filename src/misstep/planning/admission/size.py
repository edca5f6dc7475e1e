"""Whether all the plans of a case can be looked through in a moment."""

from math import prod

from misstep.core.case import Case
from misstep.core.constraint import Choice, Repeat
from misstep.errors import UsageError
from misstep.planning.plans.demands import Demands, selections

MOST_UNITS = 24  # times that actions are carried out, all in all
MOST_WAYS = 64  # to choose
MOST_BEGINNINGS = 50_000  # of plans: what may have been done at some point, over all ways to choose


def check_size(case: Case) -> None:
    """Raise a `UsageError` where that would take too long. The constraints have been checked already."""
    more = sum([c.times - 1 for c in case.constraints if isinstance(c, Repeat)])
    units = len(case.actions) + more
    if units > MOST_UNITS:
        raise UsageError(
            f"with its repetitions the case has {units} actions", f"expected no more than {MOST_UNITS}"
        )
    ways = prod([len(c.options) for c in case.constraints if isinstance(c, Choice)])
    if ways > MOST_WAYS:
        raise UsageError(f"there are {ways} ways to choose", f"expected no more than {MOST_WAYS}")
    _check_beginnings(case)


def _check_beginnings(case: Case) -> None:
    """Nothing but order is counted without looking at every beginning."""
    beginnings = 0
    for demands in selections([action.id for action in case.actions], case.constraints, case.world):
        if not demands.is_plain:
            beginnings += _count_beginnings(demands)
        if beginnings > MOST_BEGINNINGS:
            raise UsageError(
                "the case is too large to be looked through",
                "take fewer actions, or say more about their order",
            )


def _count_beginnings(demands: Demands) -> int:
    """How many there are as far as the order goes; it stops at too many."""
    count, layer = 0, {0}
    for _ in range(demands.size):
        layer = {
            done | 1 << unit
            for done in layer
            for unit, before in enumerate(demands.before)
            if not done >> unit & 1 and not before & ~done
        }
        count += len(layer)
        if count > MOST_BEGINNINGS:
            break
    return count
