"""What a tree means: the reference from which every constraint comes."""

from collections.abc import Iterator, Sequence

from misstep.planning.language.syntax import Clause, Direction, Free, Group, Paragraph, Sentence, SubSentence

Relation = tuple[int, int]
"""(first, then): the first action has to come before the second."""


def relations(sentence: Sentence) -> list[Relation]:
    """What a sentence demands, in the order in which it says so, nothing twice."""
    return list(dict.fromkeys([pair for part in sentence.parts for pair in part_relations(part)]))


def part_relations(part: SubSentence) -> list[Relation]:
    if isinstance(part, Free):
        return []
    said = _cross(part.subject.actions, part.direction, part.object.actions)
    return [*_group_relations(part.subject), *said, *_group_relations(part.object)]


def mentioned(paragraph: Paragraph) -> set[int]:
    """The actions that a paragraph speaks of."""
    return {
        action
        for sentence in paragraph
        for part in sentence.parts
        for group in ((part.subject, part.object) if isinstance(part, Clause) else (part.subject,))
        for action in _group_actions(group)
    }


def satisfied(order: Sequence[int], demanded: Sequence[Relation]) -> bool:
    """Whether an order of all actions meets every relation."""
    return all(order.index(first) < order.index(then) for first, then in demanded)


def _cross(left: Sequence[int], direction: Direction, right: Sequence[int]) -> list[Relation]:
    if direction == "<":
        return [(one, other) for one in left for other in right]
    return [(other, one) for one in left for other in right]


def _group_relations(group: Group) -> list[Relation]:
    relative = group.relative
    if not relative:
        return []
    said = _cross(group.actions, relative.direction, relative.object.actions)
    return [*said, *_group_relations(relative.object)]


def _group_actions(group: Group) -> Iterator[int]:
    yield from group.actions
    if group.relative:
        yield from _group_actions(group.relative.object)
