"""Takes actions out of a sub-sentence, and leaves as much of it as still makes sense."""

from collections.abc import Set

import msgspec

from misstep.planning.language.remarks import Conditional, Duty, Timed, TimedRelative
from misstep.planning.language.semantics import mentioned
from misstep.planning.language.syntax import Clause, Free, Group, Sentence, SubSentence
from misstep.planning.variation.editing.hoisting import hoist
from misstep.planning.variation.editing.paths import Piece


def actions_in(part: SubSentence) -> set[int]:
    """The actions that a sub-sentence speaks of."""
    return mentioned((Sentence((part,)),))


def without(said: Piece, gone: Set[int]) -> tuple[Piece, ...]:
    """What is left of a sub-sentence that no longer speaks of some actions; perhaps nothing.

    Where a clause loses its subject or its object, a relative clause on the other becomes a clause itself.
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
