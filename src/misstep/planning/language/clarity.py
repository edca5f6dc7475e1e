"""Rules that keep a sentence unambiguous: groups, pronouns, joins, and relative clauses about time."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

import msgspec

from misstep.core.rng import Dice
from misstep.planning.language.syntax import (
    Clause,
    Direction,
    Form,
    Free,
    Group,
    Join,
    Sentence,
    SubSentence,
    TimedRelative,
    change_groups,
)

FRONTED = frozenset({"fronted preposition", "fronted conjunction"})
OBJECT_LAST = frozenset({"verb", "preposition"})
MANY = 1_000_000

Part = TypeVar("Part")


def possible_joins(left: SubSentence, right: SubSentence, before: Sequence[Join]) -> tuple[Join, ...]:
    """The joins that keep the sentence unambiguous; `before` are those it already has.

    A fronted phrase or a dependent clause can be understood to govern what a comma attaches to it, so only a
    semicolon separates them; a time at the end of a clause absorbs what a comma attaches to it. A relative
    clause or a list absorbs a coordinate "and" at first reading. "But", "yet", "while" and "whereas" need a
    contrast: something else comes before on one side and after on the other. "While" is understood as
    "during" unless it introduces a plain relation. One comma is enough for a sentence. Nothing joins a
    remark.
    """
    if not isinstance(left, Clause | Free) or not isinstance(right, Clause | Free):
        return ()
    if isinstance(left, Free) or isinstance(right, Free) or any(join != ";" for join in before):
        return (";",)
    timed = isinstance(left.object.relative, TimedRelative)
    if timed or left.form not in OBJECT_LAST or right.form in FRONTED:
        return (";",)
    joins: tuple[Join, ...] = (";",)
    contrast = left.direction != right.direction and not {*left.subject.actions} & {*right.subject.actions}
    if not left.object.relative and len(left.object.actions) == len(right.subject.actions) == 1:
        joins += (", and", ", but", ", yet") if contrast else (", and",)
    if contrast:
        joins += (", whereas", ", while") if right.form == "verb" else (", whereas",)
    return joins


def most_actions(form: Form, direction: Direction) -> tuple[int, int]:
    """The most actions that subject and object of a clause may have without ambiguity.

    A comma separates an opening phrase from the subject, so neither may be a list with commas of its own, and
    "after A, B and C happen" begins like "after A". "Before B and C happen" can be understood as "before both
    have happened".
    """
    if form == "fronted preposition":
        return 2, 2
    if form in ("conjunction", "fronted conjunction"):
        return MANY, 1 if direction == "<" else 2
    return MANY, MANY


class Pronouns:
    """Restricts relative clauses in a sub-sentence to groups that their pronoun identifies clearly.

    `most` is how many actions the object of a relative clause may have; `rarity` grows with each relative
    clause, since two of them are hard to follow.
    """

    def __init__(self, form: Form) -> None:
        self.most = 2 if form == "fronted preposition" else MANY  # no list beside an opening phrase
        self.rarity = 1
        self._fronted = form == "fronted preposition"
        self._sizes: list[int] = []

    def name(self, group: Sequence[int]) -> bool:
        """Record a group as it is named; return whether a relative clause could only refer to it.

        "Which" after one action does; "both of which" and "all of which" do unless a group of that size came
        before. A pair behind an opening phrase already says "both".
        """
        size = min(len(group), 3)
        twice_both = size == 2 and self._fronted and bool(self._sizes)
        clear = size == 1 or (size not in self._sizes and not twice_both)
        self._sizes.append(size)
        return clear


def spoken_order(form: Form, subject: Part, object_: Part) -> tuple[Part, Part]:
    """Subject and object in the order of the text."""
    return (object_, subject) if form in FRONTED else (subject, object_)


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
    return change_groups(
        clause, lambda group: Group(group.actions) if isinstance(group.relative, TimedRelative) else group
    )
