"""What keeps a sentence to one reading: groups that pronouns can't miss, parts that no join swallows."""

from collections.abc import Sequence
from itertools import pairwise

from misstep.core.dice import Dice
from misstep.planning.language.remarks import TimedRelative
from misstep.planning.language.syntax import (
    OBJECT_LAST,
    Clause,
    Group,
    Join,
    Pronouns,
    Sentence,
    SubSentence,
    most_actions,
    possible_joins,
    spoken_order,
)


def is_clear(part: SubSentence) -> bool:
    """Whether nobody could mishear a sub-sentence: its lists are short enough, its pronouns can't miss."""
    if not isinstance(part, Clause):
        return True
    most_subjects, most_objects = most_actions(part.form, part.direction)
    if len(part.subject.actions) > most_subjects or len(part.object.actions) > most_objects:
        return False
    pronouns = Pronouns(part.form)
    at_end = part.object if part.form in OBJECT_LAST else None
    spoken = spoken_order(part.form, part.subject, part.object)
    return all([_is_described_clearly(group, pronouns, group is at_end) for group in spoken])


def _is_described_clearly(group: Group, pronouns: Pronouns, at_end: bool) -> bool:
    """A relative clause within another is clear at the end only, on a group of several."""
    clear, relative = pronouns.name(group.actions), group.relative
    if relative is None:
        return True
    if isinstance(relative, TimedRelative):
        return len(group.actions) == 1
    inner = relative.object
    if not clear or len(inner.actions) > pronouns.most:
        return False
    if inner.relative and not (at_end and len(inner.actions) > 1):
        return False
    return _is_described_clearly(inner, pronouns, at_end)


def joined(parts: Sequence[SubSentence], dice: Dice) -> Sentence:
    """One sentence of several parts, joined in any way that is clear."""
    joins: list[Join] = []
    for left, right in pairwise(parts):
        joins.append(dice.pick(possible_joins(left, right, joins)))
    return Sentence(tuple(parts), tuple(joins))


def rejoined(parts: Sequence[SubSentence], joins: Sequence[Join]) -> Sentence:
    """One sentence of several parts, joined as is given where that is clear, else by semicolons."""
    kept: list[Join] = []
    for (left, right), join in zip(pairwise(parts), joins, strict=True):
        kept.append(join if join in possible_joins(left, right, kept) else ";")
    return Sentence(tuple(parts), tuple(kept))
