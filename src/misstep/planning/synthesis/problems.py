"""Problems of several families: each adds what it can, and only what an agent can solve is kept."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from misstep.core.case import Planned
from misstep.core.constraint import Constraint, Family, Given
from misstep.core.dice import Dice
from misstep.errors import UsageError
from misstep.planning.language.remarks import Duty, Giving
from misstep.planning.plans.binding import find_idle
from misstep.planning.plans.order import Order
from misstep.planning.plans.search import TooManyPlans
from misstep.planning.plans.survey import Survey
from misstep.planning.synthesis.families import ADDING, add_spending, add_stand_in
from misstep.planning.synthesis.paragraphs import Recipe, continue_draft
from misstep.planning.synthesis.plot import IDS, Plot
from misstep.planning.synthesis.rehearsal import rehearse
from misstep.planning.synthesis.schedules import add_time

TRIES = 500  # before a problem is given up
TRIES_OF_A_FAMILY = 10
SEVERAL: tuple[Family, ...] = ("choice", "data", "repeat", "adjacent")  # which may have more than one say


class Problem(msgspec.Struct, frozen=True):
    """A plot that has been found sound, with its constraints, its survey and the calls of a rehearsal."""

    plot: Plot
    constraints: tuple[Constraint, ...]
    survey: Survey
    solution: tuple[Planned, ...]


def least_actions(families: Sequence[Family]) -> int:
    """How many actions it takes for each family to have its say."""
    chosen = set(families)
    optional = bool(chosen & {"choice", "budget"})
    crowded = "adjacent" in chosen and bool(chosen & {"repeat", "data"})
    needed = 2 + optional + crowded + ("dynamic" in chosen) + ({"budget", "data"} <= chosen)
    if {"order", "adjacent", "budget"} <= chosen:
        return max(needed, 4)  # a first or last place leaves two options no order to speak of
    # Neighbours and hand-overs leave two actions no order to speak of.
    return max(needed, 3) if "order" in chosen and chosen & {"adjacent", "data"} else needed


def draft_problem(
    size: int, families: Sequence[Family], recipe: Recipe, dice: Dice, given: Mapping[int, dict[str, Any]]
) -> Problem:
    """A problem in which every family has its say, and which an agent can solve by what it is told.

    `given` are the arguments of tools of the user's own, by action.
    """
    for _ in range(TRIES):
        plot = Plot(size, recipe, dice, is_alone=len(families) == 1)
        for action, arguments in given.items():
            plot.say(Giving(action, arguments))  # which does not say that the action is due
        with suppress(TooManyPlans):
            problem = _check(plot) if draft_plot(plot, families) else None
            if problem is not None:
                return problem
    raise UsageError(
        f"no problem with {size} actions was found in {TRIES} tries for {', '.join(families)}",
        "take more actions, fewer families, more sentences or more attempts",
    )


def draft_plot(plot: Plot, families: Sequence[Family]) -> bool:
    """Let the families say what they have to; False where one of them finds nothing to say."""
    # A stand-in leaves fewer actions for results to speak of.
    rate = 0.2 if plot.is_alone else 0.4
    stands_in = "dynamic" in families and plot.dice.chance(rate) and add_stand_in(plot)
    for family, add in ADDING.items():
        has_spoken = family == "dynamic" and stands_in
        found = family not in families or any(add(plot) for _ in range(TRIES_OF_A_FAMILY))
        if not found and not has_spoken:
            return False
    _add_more(plot, families)
    if "budget" in families and not add_spending(plot):
        return False
    if "order" in families and not _add_order(plot, keep="time" in families):
        return False
    if "time" in families and not add_time(plot):
        return False
    if plot.unmentioned:
        plot.say(Duty(tuple(plot.dice.shuffled(plot.unmentioned))), *plot.unmentioned)
    plot.shuffle()
    return plot.room >= 0


def _add_more(plot: Plot, families: Sequence[Family]) -> None:
    """Give some families another say, as far as there is room for sentences."""
    several = [ADDING[family] for family in SEVERAL if family in families]
    room = plot.usual_room - len({"order", "time", "budget"} & {*families})
    if several and room > 0:
        for _ in range(room + 1 - plot.dice.below(2) if plot.is_alone else plot.dice.below(room + 1)):
            plot.dice.pick(several)(plot)


def _add_order(plot: Plot, keep: bool) -> bool:
    """Ordering clauses on all actions but stand-ins; `keep` leaves room for a sentence."""
    order = Order(plot.cast)
    order.after, order.before = plot.order.after[: plot.cast], plot.order.before[: plot.cast]
    recipe = msgspec.structs.replace(
        plot.recipe,
        sentences=max(1, plot.usual_room - keep),
        # What is yet to be announced is part of the order, and must not be said before.
        redundancy=0.0 if plot.announcements else plot.recipe.redundancy,
    )
    left = (1 << plot.cast) - 1 & ~plot.mentioned
    draft = continue_draft(order, left, recipe, plot.dice, plot.apart() if plot.open else ())
    plot.redundant += [draft.paragraph[number] for number in draft.redundant]
    plot.sentences += draft.paragraph
    plot.mentioned |= (1 << plot.cast) - 1 & ~draft.unmentioned
    plot.order.after[: plot.cast], plot.order.before[: plot.cast] = order.after, order.before
    return bool(draft.paragraph)


def _check(plot: Plot) -> Problem | None:
    """The whole problem; None where nobody can solve it, not by what is told, or something in it is idle."""
    constraints = tuple(plot.constraints())
    found = plot.survey()
    if not found.witness or find_idle(IDS[: plot.size], constraints, plot.world):
        return None
    free = [constraint for constraint in constraints if not isinstance(constraint, Given)]
    solution = rehearse(IDS[: plot.size], free, plot.world)
    return None if solution is None else Problem(plot, constraints, found, solution)
