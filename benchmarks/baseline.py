"""A plain synthesiser of the same language, after PDoctor's Alg. 1, as a baseline.

Sentences are drawn at random, and Z3 decides whether each can be kept. Syntax trees, semantics and words are
misstep's own; its partial orders and its synthesis are not used.
"""

from collections.abc import Sequence
from itertools import pairwise, permutations
from math import factorial
from typing import Any, TypeAlias

import z3

from misstep.core.case import CASE_VERSION, Action, Case
from misstep.core.constraint import Before
from misstep.core.rng import Dice
from misstep.planning.language.clarity import (
    OBJECT_LAST,
    Pronouns,
    most_actions,
    possible_joins,
    spoken_order,
)
from misstep.planning.language.lexicon import load_topics
from misstep.planning.language.rendering import render
from misstep.planning.language.requests import describe, tool_name, write_request
from misstep.planning.language.semantics import Relation, mentioned, relations
from misstep.planning.language.syntax import (
    DIRECTIONS,
    FORMS,
    RELATIVE_FORMS,
    Clause,
    Group,
    Join,
    Paragraph,
    Relative,
    Sentence,
    skeleton,
)

MOST_PARTS = 3
JOIN_RATE = 0.3
GROUP_RATE = 0.25
MOST_IN_GROUP = 3
RELATIVE_RATE = 0.2
ITERATIONS = 50


class KeptSolver:
    """A tuned variant: one solver for a whole paragraph, with push and pop."""

    def __init__(self, size: int) -> None:
        self._places, demanded = _first_demands(size)
        self._solver = z3.Solver()
        self._solver.add(*demanded)

    def admit(self, demanded: Sequence[Relation]) -> bool:
        """Add constraints; returns False, and changes nothing, if no order would be left."""
        self._solver.push()
        self._solver.add(*_comparisons(self._places, demanded))
        if self._solver.check() == z3.sat:
            return True
        self._solver.pop()
        return False

    def witness(self) -> list[int]:
        """An order of the actions that satisfies all constraints."""
        self._solver.check()
        return _read_order(self._solver, self._places)


class FreshSolver:
    """The plain variant: a new solver for every sentence, as in Alg. 1: `SATSolver(C')`."""

    def __init__(self, size: int) -> None:
        self._places, self._demanded = _first_demands(size)

    def admit(self, demanded: Sequence[Relation]) -> bool:
        more = [*self._demanded, *_comparisons(self._places, demanded)]
        solver = z3.Solver()
        solver.add(*more)
        if solver.check() != z3.sat:
            return False
        self._demanded, self._satisfied = more, solver
        return True

    def witness(self) -> list[int]:
        return _read_order(self._satisfied, self._places)


Solver: TypeAlias = KeptSolver | FreshSolver


def make_case(low: int, high: int, seed: int, solver: type[Solver]) -> Case:
    """A case of `low` to `high` actions, as complete as misstep's own."""
    dice = Dice(seed)
    size = low + dice.below(high - low + 1)
    while True:
        demands = solver(size)
        paragraph = write_paragraph(size, size - 1, demands, dice)
        if len(mentioned(paragraph)) == size:
            return _compose(seed, paragraph, demands.witness(), dice)


def write_paragraph(size: int, sentences: int, demands: Solver, dice: Dice) -> Paragraph:
    """Alg. 1: sentence after sentence, each tried up to `ITERATIONS` times."""
    paragraph = list[Sentence]()
    for _ in range(sentences):
        for _ in range(ITERATIONS):
            sentence = draw_sentence(size, dice)
            if demands.admit(relations(sentence)):
                paragraph.append(sentence)
                break
        else:
            break
    return tuple(paragraph)


def draw_sentence(size: int, dice: Dice) -> Sentence:
    """Any sentence of the language, regardless of the sentences before it."""
    parts = [_draw_clause(size, dice)]
    while len(parts) < MOST_PARTS and dice.chance(JOIN_RATE):
        parts.append(_draw_clause(size, dice))
    joins: list[Join] = []
    for left, right in pairwise(parts):
        joins.append(dice.pick(possible_joins(left, right, joins)))
    return Sentence(tuple(parts), tuple(joins))


def _draw_clause(size: int, dice: Dice) -> Clause:
    form, direction = dice.pick(FORMS), dice.pick(DIRECTIONS)
    spare = dice.shuffled(range(size))
    subject, object_ = [spare.pop()], [spare.pop()]
    for actions, most in zip((subject, object_), most_actions(form, direction), strict=True):
        _widen(actions, most, spare, dice)
    pronouns, last = Pronouns(form), form in OBJECT_LAST
    groups = {
        id(actions): _draw_group(actions, spare, pronouns, last and actions is object_, dice)
        for actions in spoken_order(form, subject, object_)
    }
    return Clause(form, direction, groups[id(subject)], groups[id(object_)])


def _widen(actions: list[int], most: int, spare: list[int], dice: Dice) -> None:
    while spare and len(actions) < min(most, MOST_IN_GROUP) and dice.chance(GROUP_RATE):
        actions.append(spare.pop())


def _draw_group(actions: list[int], spare: list[int], pronouns: Pronouns, at_end: bool, dice: Dice) -> Group:
    """The group, possibly with a relative clause if its pronoun can't refer to an earlier group."""
    clear = pronouns.name(actions)
    if not clear or not spare or not dice.chance(RELATIVE_RATE**pronouns.rarity):
        return Group(tuple(actions))
    form, direction = dice.pick(RELATIVE_FORMS), dice.pick(DIRECTIONS)
    pronouns.rarity += 1
    objects = [spare.pop()]
    _widen(objects, pronouns.most, spare, dice)
    if at_end and len(objects) > 1:
        return Group(
            tuple(actions), Relative(form, direction, _draw_group(objects, spare, pronouns, at_end, dice))
        )
    pronouns.name(objects)
    return Group(tuple(actions), Relative(form, direction, Group(tuple(objects))))


def _compose(seed: int, paragraph: Paragraph, witness: Sequence[int], dice: Dice) -> Case:
    topics = load_topics()
    topic = topics[dice.pick(list(topics))]
    names = dice.sample(topic.activities, len(witness))
    sentences = render(paragraph, names, dice)
    ids = [f"a{i + 1}" for i in range(len(names))]
    actions = [Action(ids[i], name, tool_name(name), describe(name)) for i, name in enumerate(names)]
    demanded = [(pair, number) for number, sentence in enumerate(paragraph) for pair in relations(sentence)]
    return Case(
        version=CASE_VERSION,
        id="",
        seed=seed,
        topic=topic.name,
        query=write_request("role-play", topic, sentences),
        actions=tuple(actions),
        constraints=tuple([Before(ids[first], ids[then], number) for (first, then), number in demanded]),
        witness=tuple([ids[i] for i in witness]),
        chance=_chance(len(names), [pair for pair, _ in demanded]),
        skeleton=skeleton(paragraph),
        sentences=sentences,
    ).identified()


def _chance(size: int, demanded: Sequence[Relation]) -> float:
    """The share of all orders that are correct, by brute force."""
    held = sum(
        all(order.index(first) < order.index(then) for first, then in demanded)
        for order in permutations(range(size))
    )
    return held / factorial(size)


def _first_demands(size: int) -> tuple[list[Any], list[Any]]:
    """A position for each action, and the constraint that no two are equal."""
    places = [z3.Int(f"a{i + 1}") for i in range(size)]
    return places, [z3.Distinct(*places), *[z3.And(place >= 1, place <= size) for place in places]]


def _comparisons(places: Sequence[Any], demanded: Sequence[Relation]) -> list[Any]:
    return [places[first] < places[then] for first, then in demanded]


def _read_order(solver: Any, places: Sequence[Any]) -> list[int]:
    model = solver.model()
    return sorted(range(len(places)), key=lambda i: model[places[i]].as_long())
