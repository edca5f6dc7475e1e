"""The meaning of a syntax tree: all constraints are derived here."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from misstep.core.constraint import (
    Adjacent,
    Before,
    Choice,
    Condition,
    Constraint,
    Given,
    Handover,
    Limit,
    Place,
    Repeat,
    Spend,
    StandIn,
    Window,
)
from misstep.planning.language import syntax

Relation = tuple[int, int]
"""(first, then): the first action has to come before the second."""


def relations(sentence: syntax.Sentence) -> list[Relation]:
    """The ordering relations of a sentence, in the order stated, without duplicates."""
    pairs = [
        pair
        for part in sentence.parts
        for actions, said in _statements(part)
        if not isinstance(said, syntax.TimedRelative)
        for pair in _cross(actions, said.direction, said.object.actions)
    ]
    return list(dict.fromkeys(pairs))


def constraints_of(sentence: syntax.Sentence, ids: Sequence[str], number: int) -> list[Constraint]:
    """All constraints of a sentence, in the order stated, without duplicates.

    `ids` are the ids of the actions, `number` is the number of the sentence.
    """
    said: list[Constraint] = []
    for part in sentence.parts:
        said += [constraint for constraint in _demands(part, ids, number) if constraint not in said]
    return said


def paragraph_constraints(paragraph: Sequence[syntax.Sentence], ids: Sequence[str]) -> list[Constraint]:
    return [
        constraint
        for number, sentence in enumerate(paragraph)
        for constraint in constraints_of(sentence, ids, number)
    ]


def mentioned(paragraph: syntax.Paragraph) -> set[int]:
    return {action for sentence in paragraph for part in sentence.parts for action in syntax.actions_in(part)}


def _statements(
    part: syntax.SubSentence,
) -> Iterator[tuple[tuple[int, ...], syntax.Clause | syntax.Relative | syntax.TimedRelative]]:
    """What a clause and its relative clauses say, in the order stated, each with the actions it is about."""
    if isinstance(part, syntax.Clause):
        yield from (
            (group.actions, group.relative) for group in syntax.nested(part.subject) if group.relative
        )
        yield part.subject.actions, part
        yield from ((group.actions, group.relative) for group in syntax.nested(part.object) if group.relative)


def _cross(left: Sequence[int], direction: syntax.Direction, right: Sequence[int]) -> list[Relation]:
    return [(one, other) if direction == "<" else (other, one) for one in left for other in right]


def _demands(part: syntax.SubSentence, ids: Sequence[str], number: int) -> list[Constraint]:
    if not isinstance(part, syntax.Clause | syntax.Free):
        return _remark_demands(part, ids, number)
    found = list[Constraint]()
    for actions, said in _statements(part):
        if isinstance(said, syntax.TimedRelative):
            found += _windows(said, actions, ids, number)
        else:
            pairs = _cross(actions, said.direction, said.object.actions)
            found += [Before(ids[first], ids[then], number) for first, then in pairs]
    return found


def _windows(
    said: syntax.Timed | syntax.TimedRelative, actions: tuple[int, ...], ids: Sequence[str], number: int
) -> list[Constraint]:
    return [Window(ids[action], said.edge, said.bound, said.time, number) for action in actions]


def _remark_demands(remark: syntax.Remark, ids: Sequence[str], number: int) -> list[Constraint]:
    match remark:
        case syntax.Timed(actions=actions):
            return _windows(remark, actions, ids, number)
        case syntax.Neighbours(_, direction, subject, object_):
            first, then = (subject, object_) if direction == "<" else (object_, subject)
            return [Adjacent(ids[first], ids[then], number)]
        case syntax.End(place, action):
            return [Place(ids[action], place, number)]
        case syntax.Alternative(options):
            return [Choice(tuple([ids[option] for option in options]), number)]
        case syntax.Conditional(asks, finding, then, otherwise):
            other = "" if otherwise is None else ids[otherwise]
            return [Condition(ids[asks], finding, ids[then], other, number)]
        case syntax.RepeatRemark(action, times):
            return [Repeat(ids[action], times, number)]
        case syntax.Limited(action, most):
            return [Limit(ids[action], most, number)]
        case syntax.BudgetRemark(most):
            return [Spend(most, number)]
        case syntax.HandOver(giver, taker, value):
            return [Handover(ids[giver], ids[taker], value.replace(" ", "_"), number)]
        case syntax.Replacing(action, by):
            return [StandIn(ids[action], ids[by], number)]
        case syntax.Duty():
            return []
        case syntax.Giving(action, arguments):
            return [Given(ids[action], arguments, number)]
        case _:
            assert_never(remark)
