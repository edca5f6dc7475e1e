"""Generates problems of several families, and proves that each can be solved.

The proof is a rehearsal by a strategist that knows only what it has been told so far.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from misstep.core.case import CASE_VERSION, Action, Case, Planned, World
from misstep.core.constraint import Before, Constraint, Family, Given
from misstep.core.outcome import Call, Transcript
from misstep.core.rng import Dice
from misstep.errors import UsageError
from misstep.planning.judging.check import judge
from misstep.planning.language.requests import clock
from misstep.planning.language.syntax import Duty, Giving
from misstep.planning.plans.order import Order
from misstep.planning.plans.search import Survey, TooManyPlans, find_idle
from misstep.planning.plans.strategy import Brief, News, Strategist, StrategyMove
from misstep.planning.synthesis.families import ADDING, add_spending, add_stand_in
from misstep.planning.synthesis.paragraphs import Recipe, continue_draft
from misstep.planning.synthesis.plot import IDS, Plot
from misstep.planning.synthesis.schedules import add_time
from misstep.planning.world.simulator import Simulator, StepResult
from misstep.planning.world.tool_table import ASK_PRICE, START_OVER, START_TIME, TASK

MOST_CALLS = 300
MANY_ATTEMPTS = 3


def rehearse(
    actions: Sequence[str], constraints: Sequence[Constraint], world: World
) -> tuple[Planned, ...] | None:
    """All calls with which a strategist gets everything right, or None; tools are named by action id.

    Given arguments are left out, since these tools take none.
    """
    case = Case(
        version=CASE_VERSION,
        id="rehearsal",
        seed=0,
        topic="",
        query="",
        actions=tuple([Action(action, action, action) for action in actions]),
        constraints=tuple([constraint for constraint in constraints if not isinstance(constraint, Given)]),
        world=world,
    )
    calls = _play(case)
    transcript = Transcript(case.id, tuple([Call(call.tool, call.arguments) for call in calls]))
    return tuple(calls) if judge(case, transcript).verdict == "passed" else None


def name_tools(
    calls: Sequence[Planned], constraints: Sequence[Constraint], actions: Sequence[Action]
) -> tuple[Planned, ...]:
    """The calls of a rehearsal with the names of the tools and the given arguments."""
    tools = {action.id: action.tool for action in actions}
    given = {c.action: c.arguments for c in constraints if isinstance(c, Given)}
    return tuple(
        [
            Planned(ASK_PRICE, {TASK: tools[call.arguments[TASK]]})
            if call.tool == ASK_PRICE and call.tool not in tools
            else Planned(tools.get(call.tool, call.tool), call.arguments | given.get(call.tool, {}))
            for call in calls
        ]
    )


def _play(case: Case) -> list[Planned]:
    """The calls of a strategist that sees the results and nothing else of the world.

    If there are many attempts, it leaves one unused, for agents with a worse start.
    """
    announced = [c for c in case.constraints if isinstance(c, Before) and c.announced]
    known = tuple([constraint for constraint in case.constraints if constraint not in announced])
    attempts = case.world.attempts - (case.world.attempts >= MANY_ATTEMPTS)
    brief = Brief(tuple([action.id for action in case.actions]), known, case.world.day, attempts)
    strategist, stage = Strategist(brief), Simulator(case)
    calls = list[Planned]()
    while len(calls) < MOST_CALLS and (move := strategist.next()):
        call = call_for(move, case.world, {})
        calls.append(call)
        strategist.hear(move, news_from(stage.play(call.tool, call.arguments), announced))
    return calls


def call_for(move: StrategyMove, world: World, tools: Mapping[str, str]) -> Planned:
    """The call that makes a move; tools are named by action id if they have no other name."""
    match move.kind:
        case "start over":
            return Planned(START_OVER)
        case "ask price":
            return Planned(ASK_PRICE, {TASK: tools.get(move.action, move.action)})
        case "carry out":
            time: dict[str, Any] = {START_TIME: clock(move.start)} if world.day else {}
            return Planned(tools.get(move.action, move.action), time | move.values)


def news_from(scene: StepResult, announced: Sequence[Before]) -> News:
    """What a step result tells, with the constraints that it announces."""
    heard = [c for c in announced if scene.deed and scene.announcement and c.announced == scene.deed.action]
    return News(scene.kind, scene.minutes, scene.values, scene.finding, scene.cost or 0, tuple(heard))


TRIES = 500  # before a problem is given up
TRIES_OF_A_FAMILY = 10
SEVERAL: tuple[Family, ...] = ("choice", "data", "repeat", "adjacent")  # families that may add more than once


class Problem(msgspec.Struct, frozen=True):
    """A validated plot, with its constraints, its survey and the calls of a rehearsal."""

    plot: Plot
    constraints: tuple[Constraint, ...]
    survey: Survey
    solution: tuple[Planned, ...]


def least_actions(families: Sequence[Family]) -> int:
    chosen = set(families)
    optional = bool(chosen & {"choice", "budget"})
    crowded = "adjacent" in chosen and bool(chosen & {"repeat", "data"})
    needed = 2 + optional + crowded + ("dynamic" in chosen) + ({"budget", "data"} <= chosen)
    if {"order", "adjacent", "budget"} <= chosen:
        return max(needed, 4)  # a first or last place leaves two options without an order
    # Neighbours and hand-overs leave two actions without an order.
    return max(needed, 3) if "order" in chosen and chosen & {"adjacent", "data"} else needed


def draft_problem(
    size: int, families: Sequence[Family], recipe: Recipe, dice: Dice, given: Mapping[int, dict[str, Any]]
) -> Problem:
    """A problem in which every family occurs, and which can be solved with what the agent is told.

    `given` are the arguments of the user's own tools, by action.
    """
    for _ in range(TRIES):
        plot = Plot(size, recipe, dice, is_alone=len(families) == 1)
        for action, arguments in given.items():
            plot.say(Giving(action, arguments))  # which does not make the action due
        with suppress(TooManyPlans):
            problem = _check(plot) if draft_plot(plot, families) else None
            if problem is not None:
                return problem
    raise UsageError(
        f"no problem with {size} actions was found in {TRIES} attempts for {', '.join(families)}",
        "use more actions, fewer families, more sentences or more attempts",
    )


def draft_plot(plot: Plot, families: Sequence[Family]) -> bool:
    """Let each family add its part; False if one of them can't."""
    # A stand-in leaves fewer actions for announcements.
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
    plot.sentences = plot.dice.shuffled(plot.sentences)
    return plot.room >= 0


def _add_more(plot: Plot, families: Sequence[Family]) -> None:
    """Let some families add more, as far as there is room for sentences."""
    several = [ADDING[family] for family in SEVERAL if family in families]
    room = plot.usual_room - len({"order", "time", "budget"} & {*families})
    if several and room > 0:
        for _ in range(room + 1 - plot.dice.below(2) if plot.is_alone else plot.dice.below(room + 1)):
            plot.dice.pick(several)(plot)


def _add_order(plot: Plot, keep: bool) -> bool:
    """Ordering clauses on all actions but stand-ins; `keep` reserves room for a sentence."""
    order = Order(plot.cast)
    order.after, order.before = plot.order.after[: plot.cast], plot.order.before[: plot.cast]
    recipe = msgspec.structs.replace(
        plot.recipe,
        sentences=max(1, plot.usual_room - keep),
        # What is yet to be announced is part of the order, and must not be revealed.
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
    """The whole problem; None if it can't be solved with what is told, or a constraint has no effect."""
    constraints = tuple(plot.constraints())
    found = plot.survey()
    if not found.witness or find_idle(IDS[: plot.size], constraints, plot.world):
        return None
    solution = rehearse(IDS[: plot.size], constraints, plot.world)
    return None if solution is None else Problem(plot, constraints, found, solution)
