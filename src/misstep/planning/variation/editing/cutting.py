"""Removes actions from a sub-sentence, and turns its relative clauses into separate clauses."""

from collections.abc import Iterator, Set

import msgspec

from misstep.planning.language.clarity import is_clear
from misstep.planning.language.syntax import (
    Clause,
    Conditional,
    Duty,
    Free,
    Group,
    Relative,
    Timed,
    TimedRelative,
    actions_in,
)
from misstep.planning.language.wording import Option
from misstep.planning.variation.editing.paths import Path, Piece


def untangled(said: Piece) -> tuple[Piece, ...]:
    """A sub-sentence if it is clear, else the same in several clauses."""
    relatives = [] if is_clear(said.part) else hoisted(said)
    if not relatives:
        return (said,)
    return tuple([plain for each in (bare(said), *relatives) for plain in untangled(each)])


def bare(said: Piece) -> Piece:
    """A clause without its relative clauses."""
    assert isinstance(said.part, Clause)
    subject, object_ = Group(said.part.subject.actions), Group(said.part.object.actions)
    return Piece(msgspec.structs.replace(said.part, subject=subject, object=object_), said.words)


def hoisted(said: Piece) -> list[Piece]:
    """The relative clauses on the subject and the object of a clause as separate clauses."""
    if not isinstance(said.part, Clause):
        return []
    found = hoist(said, ("subject",), said.part.subject), hoist(said, ("object",), said.part.object)
    return [clause for clause in found if clause]


def hoist(said: Piece, path: Path, group: Group) -> Piece | None:
    """What is said of the group at the end of a path, as a separate clause, in the same words."""
    words = _below(said, (*path, "relative"))
    match group.relative:
        case None:
            return None
        case TimedRelative(edge, bound, time):
            return Piece(Timed("verb", edge, bound, time, group.actions), words)
        case relative:
            about = Group(group.actions)
            return Piece(Clause(relative.form, relative.direction, about, relative.object), words)


def _below(said: Piece, path: Path) -> dict[Path, Option]:
    depth = len(path)
    return {other[depth:]: word for other, word in said.words.items() if other[:depth] == path}


def without(said: Piece, gone: Set[int]) -> tuple[Piece, ...]:
    """What is left of a sub-sentence without some actions; possibly nothing.

    If a clause loses its subject or its object, a relative clause on the other becomes a clause itself.
    """
    part = said.part
    if actions_in(part).isdisjoint(gone):
        return (said,)
    match part:
        case Clause():
            return _cut_clause(said, part, gone)
        case Free(subject):
            left = _cut_group(subject, gone)
            return (Piece(Free(left), said.words),) if left else ()
        case Timed(actions=actions) | Duty(actions):
            kept = tuple([action for action in actions if action not in gone])
            return (Piece(msgspec.structs.replace(part, actions=kept), said.words),) if kept else ()
        case Conditional(asks, _, then, otherwise) if otherwise in gone and not gone & {asks, then}:
            return (Piece(msgspec.structs.replace(part, otherwise=None), said.words),)
        case _:
            return ()


def _cut_clause(said: Piece, clause: Clause, gone: Set[int]) -> tuple[Piece, ...]:
    subject, object_ = _cut_group(clause.subject, gone), _cut_group(clause.object, gone)
    if subject and object_:
        return (Piece(msgspec.structs.replace(clause, subject=subject, object=object_), said.words),)
    alone = hoist(said, ("subject",), subject) if subject else None
    if object_:
        alone = hoist(said, ("object",), object_)
    return (alone,) if alone else ()


def _cut_group(group: Group, gone: Set[int]) -> Group | None:
    kept = tuple([action for action in group.actions if action not in gone])
    if not kept:
        return None
    relative = group.relative
    if relative and not isinstance(relative, TimedRelative):
        object_ = _cut_group(relative.object, gone)
        relative = msgspec.structs.replace(relative, object=object_) if object_ else None
    return Group(kept, relative)


def places_in(clause: Clause) -> Iterator[tuple[Path, Group]]:
    """Every group with the path to it: ("subject",), ("object", "relative", "object"), …"""
    yield from _from(("subject",), clause.subject)
    yield from _from(("object",), clause.object)


def _from(path: Path, group: Group) -> Iterator[tuple[Path, Group]]:
    yield path, group
    if isinstance(group.relative, Relative):
        yield from _from((*path, "relative", "object"), group.relative.object)


def regrouped(clause: Clause, path: Path, group: Group) -> Clause:
    """The clause with another group at the end of a path."""
    name, *deeper = path
    inner = _regroup(getattr(clause, name), deeper, group)
    return msgspec.structs.replace(clause, **{name: inner})


def _regroup(outer: Group, path: list[str], group: Group) -> Group:
    if not path:
        return group
    assert isinstance(outer.relative, Relative)
    inner = _regroup(outer.relative.object, path[2:], group)
    return Group(outer.actions, msgspec.structs.replace(outer.relative, object=inner))
