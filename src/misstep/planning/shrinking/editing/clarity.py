"""Keeps a sentence that has been cut to the rules under which it can be read in one way only."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from misstep.planning.language.remarks import Timed, TimedRelative
from misstep.planning.language.syntax import (
    OBJECT_LAST,
    Clause,
    Group,
    Join,
    Pronouns,
    SubSentence,
    most_actions,
    possible_joins,
    spoken_order,
)
from misstep.planning.language.wording import Option
from misstep.planning.shrinking.editing.places import Place, Said


def is_clear(part: SubSentence) -> bool:
    """Whether groups are small enough, and pronouns can't be heard of anything but the group they follow."""
    if not isinstance(part, Clause):
        return True
    most_subjects, most_objects = most_actions(part.form, part.direction)
    if len(part.subject.actions) > most_subjects or len(part.object.actions) > most_objects:
        return False
    pronouns, last = Pronouns(part.form), part.form in OBJECT_LAST
    spoken = spoken_order(part.form, part.subject, part.object)
    return all([_names_clearly(group, pronouns, last and group is part.object) for group in spoken])


def _names_clearly(group: Group, pronouns: Pronouns, at_end: bool) -> bool:
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
    return _names_clearly(inner, pronouns, at_end)


def untangled(said: Said) -> tuple[Said, ...]:
    """A sub-sentence if it is clear, else what it says in clauses of their own."""
    relatives = [] if is_clear(said.part) else hoisted(said)
    if not relatives:
        return (said,)
    return tuple([plain for each in (bare(said), *relatives) for plain in untangled(each)])


def bare(said: Said) -> Said:
    """A clause without its relative clauses."""
    assert isinstance(said.part, Clause)
    subject, object_ = Group(said.part.subject.actions), Group(said.part.object.actions)
    return Said(msgspec.structs.replace(said.part, subject=subject, object=object_), said.words)


def hoisted(said: Said) -> list[Said]:
    """The relative clauses on the subject and the object of a clause as clauses of their own."""
    if not isinstance(said.part, Clause):
        return []
    found = hoist(said, ("subject",), said.part.subject), hoist(said, ("object",), said.part.object)
    return [clause for clause in found if clause]


def hoist(said: Said, place: Place, group: Group) -> Said | None:
    """What is said of the group in a place, as a clause of its own, in the same words."""
    words = _below(said, (*place, "relative"))
    match group.relative:
        case None:
            return None
        case TimedRelative(edge, bound, time):
            return Said(Timed("verb", edge, bound, time, group.actions), words)
        case relative:
            about = Group(group.actions)
            return Said(Clause(relative.form, relative.direction, about, relative.object), words)


def _below(said: Said, place: Place) -> dict[Place, Option]:
    depth = len(place)
    return {other[depth:]: word for other, word in said.words.items() if other[:depth] == place}


def mended(parts: Sequence[SubSentence], joins: Sequence[Join]) -> tuple[Join, ...]:
    """Joins under which the parts can't be misread: those given where they will do, else semicolons."""
    kept: list[Join] = []
    for (left, right), join in zip(pairwise(parts), joins, strict=True):
        fits = join in possible_joins(left, right, kept) and not _ends_in_time(left)
        kept.append(join if fits else ";")
    return tuple(kept)


def _ends_in_time(part: SubSentence) -> bool:
    """Whether its last words are a relative clause about a time, which swallows what a comma ties to it."""
    return (
        isinstance(part, Clause)
        and part.form in OBJECT_LAST
        and isinstance(part.object.relative, TimedRelative)
    )
