"""Words and names for a draft: the whole case, with its request and its tools."""

from collections.abc import Sequence
from functools import cache
from math import factorial

import msgspec

from misstep.core.case import CASE_VERSION, Action, Case, Planned, World
from misstep.core.constraint import Before, Constraint, Given, Repeat
from misstep.core.dice import Dice
from misstep.planning.language.rendering import render
from misstep.planning.language.requests import describe, tool_name, write_request, write_rules
from misstep.planning.language.semantics import relations
from misstep.planning.language.syntax import Paragraph, Sentence, skeleton
from misstep.planning.language.topics import Topic
from misstep.planning.plans.order import count_orders, first_available
from misstep.planning.synthesis.families import COSTS
from misstep.planning.synthesis.paragraphs import Draft
from misstep.planning.synthesis.plot import IDS
from misstep.planning.synthesis.problems import Problem
from misstep.planning.world.cast import ASK_PRICE, TASK


class Setting(msgspec.Struct, frozen=True):
    """Where a problem is set: the wording of the request, a job, tools for all actions and some for none."""

    request: str
    topic: Topic
    actions: tuple[Action, ...]
    distractors: tuple[Action, ...] = ()


@cache  # topics offer a thousand names
def action_for(action_id: str, activity: str, described: bool) -> Action:
    """An action of ours; where its tool takes arguments, the description is left to follow from those."""
    return Action(action_id, activity, tool_name(activity), describe(activity) if described else "")


def compose_order(seed: int, setting: Setting, draft: Draft, dice: Dice) -> Case:
    """A case about nothing but order."""
    sentences = render(draft.paragraph, [action.name for action in setting.actions], dice)
    constraints: tuple[Constraint, ...] = tuple(
        [
            Before(IDS[first], IDS[then], number)
            for number, sentence in enumerate(draft.paragraph)
            for first, then in relations(sentence)
        ]
    )
    return msgspec.structs.replace(
        _set(setting, draft.paragraph, sentences, constraints, World()),
        seed=seed,
        witness=tuple([IDS[i] for i in first_available(draft.order.before)]),
        chance=count_orders(tuple(draft.order.before)) / factorial(draft.order.size),
        redundant=draft.redundant,
    ).identified()


def compose_problem(seed: int, setting: Setting, problem: Problem, dice: Dice) -> Case:
    """A case of any families."""
    plot, names = problem.plot, [action.name for action in setting.actions]
    paragraph = tuple(plot.sentences)
    sentences = render(paragraph, names, dice)
    announcements = {
        IDS[announcement.voice]: render((Sentence((announcement.clause,)),), names, dice)[0]
        for announcement in plot.announcements
    }
    world = msgspec.structs.replace(
        plot.world,
        announcements=announcements,
        values=_needed_values(plot.world, problem.constraints),
        costs=_costs(plot.world, setting.distractors, dice),
    )
    again = [i for i, said in enumerate(paragraph) if any(said is one for one in plot.redundant)]
    return msgspec.structs.replace(
        _set(setting, paragraph, sentences, problem.constraints, world),
        seed=seed,
        witness=problem.survey.witness,
        chance=problem.survey.chance,
        redundant=tuple(again),
        world=world,
        solution=_name_tools(problem, setting.actions),
    ).identified()


def _set(
    setting: Setting,
    paragraph: Paragraph,
    sentences: tuple[str, ...],
    constraints: tuple[Constraint, ...],
    world: World,
) -> Case:
    """A case in its setting, without its world and what is known of it as a whole."""
    own = any(action.parameters is not None for action in setting.actions)
    rules = write_rules(constraints, world, len(setting.distractors), own)
    return Case(
        version=CASE_VERSION,
        id="",
        seed=0,
        topic=setting.topic.name,
        query=write_request(setting.request, setting.topic, sentences, rules),
        actions=setting.actions,
        constraints=constraints,
        skeleton=skeleton(paragraph),
        sentences=sentences,
        distractors=setting.distractors,
    )


def _costs(world: World, distractors: Sequence[Action], dice: Dice) -> dict[str, int]:
    """What everything costs: tools that nobody needs have a price too, or that would give them away."""
    if not world.costs:
        return {}
    return world.costs | {action.id: dice.pick(COSTS) for action in distractors}


def _needed_values(
    world: World, constraints: Sequence[Constraint]
) -> dict[str, dict[str, tuple[str | int, ...]]]:
    """As many as can be asked for: one for each time in each attempt."""
    times = {c.action: c.times for c in constraints if isinstance(c, Repeat)}
    return {
        giver: {name: series[: world.attempts * times.get(giver, 1)] for name, series in values.items()}
        for giver, values in world.values.items()
    }


def _name_tools(problem: Problem, actions: Sequence[Action]) -> tuple[Planned, ...]:
    """The calls of the rehearsal, by the names of the tools, with the arguments that are given."""
    tools = {action.id: action.tool for action in actions}
    given = {c.action: c.arguments for c in problem.constraints if isinstance(c, Given)}
    return tuple(
        [
            Planned(ASK_PRICE, {TASK: tools[call.arguments[TASK]]})
            if call.tool == ASK_PRICE
            else Planned(tools.get(call.tool, call.tool), call.arguments | given.get(call.tool, {}))
            for call in problem.solution
        ]
    )
