"""Rules that keep a sentence unambiguous: groups, pronouns, joins, and relative clauses about time."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from misstep.core.rng import Dice
from misstep.planning.language.remarks import TimedRelative
from misstep.planning.language.syntax import (
    OBJECT_LAST,
    Clause,
    Group,
    Join,
    Pronouns,
    Relative,
    Sentence,
    SubSentence,
    most_actions,
    possible_joins,
    spoken_order,
)


def is_clear(part: SubSentence) -> bool:
    """Whether a part is unambiguous: its lists are short enough, its pronouns clear."""
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
    """A nested relative clause is clear only at the end, on a group of several."""
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
    """Join several parts into one sentence in any way that is clear."""
    joins: list[Join] = []
    for left, right in pairwise(parts):
        joins.append(dice.pick(possible_joins(left, right, joins)))
    return Sentence(tuple(parts), tuple(joins))


def rejoined(parts: Sequence[SubSentence], joins: Sequence[Join]) -> Sentence:
    """Join several parts as given if that is clear, else with semicolons."""
    kept: list[Join] = []
    for (left, right), join in zip(pairwise(parts), joins, strict=True):
        kept.append(join if join in possible_joins(left, right, kept) else ";")
    return Sentence(tuple(parts), tuple(kept))


def with_time(sentence: Sentence, action: int, time: TimedRelative) -> Iterator[Sentence]:
    """The sentence with a time added to an action, at each place where the action stands alone.

    A clause gets at most one relative clause; at its end, one would absorb what a comma attaches to it.
    """
    for place, part in enumerate(sentence.parts):
        if not isinstance(part, Clause) or part.subject.relative or part.object.relative:
            continue
        tied = place < len(sentence.joins) and sentence.joins[place] != ";"
        for name in ("subject",) if tied else ("subject", "object"):
            if getattr(part, name).actions == (action,):
                described = msgspec.structs.replace(part, **{name: Group((action,), time)})
                parts = (*sentence.parts[:place], described, *sentence.parts[place + 1 :])
                yield msgspec.structs.replace(sentence, parts=parts)


def without_times(clause: Clause) -> Clause:
    """The clause without the times of its actions."""
    subject, object_ = _without_times(clause.subject), _without_times(clause.object)
    return Clause(clause.form, clause.direction, subject, object_)


def _without_times(group: Group) -> Group:
    relative = group.relative
    if relative is None or isinstance(relative, TimedRelative):
        return Group(group.actions)
    inner = Relative(relative.form, relative.direction, _without_times(relative.object))
    return Group(group.actions, inner)
