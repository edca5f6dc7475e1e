"""Turns a draft into a whole case: words, names, request and tools."""

from collections.abc import Sequence
from functools import cache

import msgspec

from misstep.core.case import CASE_VERSION, Action, Case, Planned, World
from misstep.core.constraint import Before, Constraint, Repeat
from misstep.core.rng import Dice
from misstep.planning.language.lexicon import Topic
from misstep.planning.language.parts import Side
from misstep.planning.language.rendering import possible_moods, render
from misstep.planning.language.requests import describe, tool_name, write_request, write_rules
from misstep.planning.language.semantics import relations
from misstep.planning.language.syntax import Paragraph, skeleton
from misstep.planning.plans.order import Order
from misstep.planning.plans.search import Survey, survey_order
from misstep.planning.synthesis.families import COSTS
from misstep.planning.synthesis.paragraphs import ParagraphDraft
from misstep.planning.synthesis.plot import IDS
from misstep.planning.synthesis.problems import Problem, name_tools


class Setting(msgspec.Struct, frozen=True):
    """The setting of a problem: request template, topic, tools for all actions, and distractors.

    `words` is the side of the lexicon that phrases are taken from.
    """

    request: str
    topic: Topic
    actions: tuple[Action, ...]
    distractors: tuple[Action, ...] = ()
    words: Side | None = None


@cache  # topics have a thousand names
def action_for(action_id: str, activity: str, described: bool) -> Action:
    """An action of a topic; if its tool takes arguments, the description is generated from those later."""
    return Action(action_id, activity, tool_name(activity), describe(activity) if described else "")


class CaseText(msgspec.Struct, frozen=True):
    """What a case says: its paragraph, its sentences, and its constraints, including announced ones.

    `redundant` are the numbers of sentences that deliberately repeat something.
    """

    paragraph: Paragraph
    sentences: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    redundant: tuple[int, ...] = ()


def compose_order(seed: int, setting: Setting, draft: ParagraphDraft, dice: Dice) -> Case:
    """A case with ordering constraints only."""
    sentences = render(draft.paragraph, [action.name for action in setting.actions], dice, setting.words)
    constraints: tuple[Constraint, ...] = tuple(
        [
            Before(IDS[first], IDS[then], number)
            for number, sentence in enumerate(draft.paragraph)
            for first, then in relations(sentence)
        ]
    )
    told = CaseText(draft.paragraph, sentences, constraints, draft.redundant)
    return order_case(seed, setting, told, draft.order)


def order_case(seed: int, setting: Setting, told: CaseText, order: Order) -> Case:
    """A case with ordering constraints only, from its text and order."""
    found = survey_order([action.id for action in setting.actions], order)
    return _case(seed, setting, told, World(), found).identified()


def compose_problem(seed: int, setting: Setting, problem: Problem, dice: Dice) -> Case:
    """A case of any families."""
    plot, names = problem.plot, [action.name for action in setting.actions]
    paragraph = tuple(plot.sentences)
    mood = dice.pick(possible_moods((*paragraph, *plot.announcements.values()), setting.words))
    sentences = render(paragraph, names, dice, setting.words, mood)
    announcements = {
        IDS[voice]: render((sentence,), names, dice, setting.words, mood)[0]
        for voice, sentence in plot.announcements.items()
    }
    costs = plot.world.costs
    if costs:  # distractors have a price too, or the missing price would reveal them
        costs = costs | {action.id: dice.pick(COSTS) for action in setting.distractors}
    world = msgspec.structs.replace(
        plot.world,
        announcements=announcements,
        values=needed_values(plot.world, problem.constraints),
        costs=costs,
    )
    again = [i for i, said in enumerate(paragraph) if any(said is one for one in plot.redundant)]
    told = CaseText(paragraph, sentences, problem.constraints, tuple(again))
    return problem_case(seed, setting, told, world, problem.survey, problem.solution)


def problem_case(
    seed: int, setting: Setting, told: CaseText, world: World, found: Survey, solution: Sequence[Planned]
) -> Case:
    """A case of any families, from its text, its complete world, and calls that solve it, by action."""
    named = name_tools(solution, told.constraints, setting.actions)
    case = _case(seed, setting, told, world, found)
    return msgspec.structs.replace(case, world=world, solution=named).identified()


def _case(seed: int, setting: Setting, told: CaseText, world: World, found: Survey) -> Case:
    """A case without its world and solution; a plain one has neither, not even in the content of its id."""
    own = any(action.parameters is not None for action in setting.actions)
    rules = write_rules(told.constraints, world, len(setting.distractors), own)
    return Case(
        version=CASE_VERSION,
        id="",
        seed=seed,
        topic=setting.topic.name,
        query=write_request(setting.request, setting.topic, told.sentences, rules),
        actions=setting.actions,
        constraints=told.constraints,
        skeleton=skeleton(told.paragraph),
        sentences=told.sentences,
        redundant=told.redundant,
        witness=found.witness,
        chance=found.chance,
        distractors=setting.distractors,
    )


def needed_values(
    world: World, constraints: Sequence[Constraint]
) -> dict[str, dict[str, tuple[str | int, ...]]]:
    """As many values as can be asked for: one for each execution in each attempt."""
    times = {c.action: c.times for c in constraints if isinstance(c, Repeat)}
    return {
        giver: {name: series[: world.attempts * times.get(giver, 1)] for name, series in values.items()}
        for giver, values in world.values.items()
    }
