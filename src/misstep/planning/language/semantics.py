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
from misstep.planning.language.remarks import (
    Alternative,
    BudgetRemark,
    Conditional,
    Direction,
    Duty,
    End,
    Giving,
    HandOver,
    Limited,
    Neighbours,
    Remark,
    RepeatRemark,
    Replacing,
    Timed,
    TimedRelative,
)
from misstep.planning.language.syntax import Clause, Free, Group, Paragraph, Sentence, SubSentence

Relation = tuple[int, int]
"""(first, then): the first action has to come before the second."""


def relations(sentence: Sentence) -> list[Relation]:
    """The ordering relations of a sentence, in the order stated, without duplicates."""
    return list(dict.fromkeys([pair for part in sentence.parts for pair in part_relations(part)]))


def part_relations(part: SubSentence) -> list[Relation]:
    if not isinstance(part, Clause):
        return []
    said = _cross(part.subject.actions, part.direction, part.object.actions)
    return [*_group_relations(part.subject), *said, *_group_relations(part.object)]


def constraints_of(sentence: Sentence, ids: Sequence[str], number: int) -> list[Constraint]:
    """All constraints of a sentence, in the order stated, without duplicates.

    `ids` are the ids of the actions, `number` is the number of the sentence.
    """
    said: list[Constraint] = []
    for part in sentence.parts:
        said += [constraint for constraint in _demands(part, ids, number) if constraint not in said]
    return said


def mentioned(paragraph: Paragraph) -> set[int]:
    """The actions that a paragraph mentions."""
    return {action for sentence in paragraph for part in sentence.parts for action in _actions(part)}


def satisfied(order: Sequence[int], demanded: Sequence[Relation]) -> bool:
    """Whether an order of all actions satisfies every relation."""
    return all(order.index(first) < order.index(then) for first, then in demanded)


def _cross(left: Sequence[int], direction: Direction, right: Sequence[int]) -> list[Relation]:
    if direction == "<":
        return [(one, other) for one in left for other in right]
    return [(other, one) for one in left for other in right]


def _group_relations(group: Group) -> list[Relation]:
    relative = group.relative
    if not relative or isinstance(relative, TimedRelative):
        return []
    said = _cross(group.actions, relative.direction, relative.object.actions)
    return [*said, *_group_relations(relative.object)]


def _demands(part: SubSentence, ids: Sequence[str], number: int) -> list[Constraint]:
    match part:
        case Clause(_, direction, subject, object_):
            said = _cross(subject.actions, direction, object_.actions)
            return [
                *_group_demands(subject, ids, number),
                *_befores(said, ids, number),
                *_group_demands(object_, ids, number),
            ]
        case Free():
            return []
        case _:
            return _remark_demands(part, ids, number)


def _group_demands(group: Group, ids: Sequence[str], number: int) -> list[Constraint]:
    relative = group.relative
    if not relative:
        return []
    if isinstance(relative, TimedRelative):
        return _windows(relative, group.actions, ids, number)
    said = _cross(group.actions, relative.direction, relative.object.actions)
    return [*_befores(said, ids, number), *_group_demands(relative.object, ids, number)]


def _befores(said: list[Relation], ids: Sequence[str], number: int) -> list[Constraint]:
    return [Before(ids[first], ids[then], number) for first, then in said]


def _windows(
    said: Timed | TimedRelative, actions: tuple[int, ...], ids: Sequence[str], number: int
) -> list[Constraint]:
    return [Window(ids[action], said.edge, said.bound, said.time, number) for action in actions]


def _remark_demands(remark: Remark, ids: Sequence[str], number: int) -> list[Constraint]:
    match remark:
        case Timed(actions=actions):
            return _windows(remark, actions, ids, number)
        case Neighbours(_, direction, subject, object_):
            first, then = (subject, object_) if direction == "<" else (object_, subject)
            return [Adjacent(ids[first], ids[then], number)]
        case End(place, action):
            return [Place(ids[action], place, number)]
        case Alternative(options):
            return [Choice(tuple([ids[option] for option in options]), number)]
        case Conditional(asks, finding, then, otherwise):
            other = "" if otherwise is None else ids[otherwise]
            return [Condition(ids[asks], finding, ids[then], other, number)]
        case RepeatRemark(action, times):
            return [Repeat(ids[action], times, number)]
        case Limited(action, most):
            return [Limit(ids[action], most, number)]
        case BudgetRemark(most):
            return [Spend(most, number)]
        case HandOver(giver, taker, value):
            return [Handover(ids[giver], ids[taker], value.replace(" ", "_"), number)]
        case Replacing(action, by):
            return [StandIn(ids[action], ids[by], number)]
        case Duty():
            return []
        case Giving(action, arguments):
            return [Given(ids[action], arguments, number)]
        case _:
            assert_never(remark)


def _actions(part: SubSentence) -> Iterator[int]:
    match part:
        case Clause(subject=subject, object=object_):
            yield from _group_actions(subject)
            yield from _group_actions(object_)
        case Free(subject):
            yield from _group_actions(subject)
        case Timed(actions=actions) | Alternative(actions) | Duty(actions):
            yield from actions
        case Neighbours(_, _, one, other) | HandOver(one, other, _) | Replacing(one, other):
            yield from (one, other)
        case Conditional(asks, _, then, otherwise):
            yield from (asks, then) if otherwise is None else (asks, then, otherwise)
        case End(_, action) | RepeatRemark(action, _) | Limited(action, _) | Giving(action, _):
            yield action
        case BudgetRemark():
            return
        case _:
            assert_never(part)


def _group_actions(group: Group) -> Iterator[int]:
    yield from group.actions
    relative = group.relative
    if relative and not isinstance(relative, TimedRelative):
        yield from _group_actions(relative.object)
