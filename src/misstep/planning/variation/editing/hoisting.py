"""Takes relative clauses off their clause, so that each says the same for itself."""

import msgspec

from misstep.planning.language.clarity import is_clear
from misstep.planning.language.remarks import Timed, TimedRelative
from misstep.planning.language.syntax import Clause, Group
from misstep.planning.language.wording import Option
from misstep.planning.variation.editing.paths import Path, Piece


def untangled(said: Piece) -> tuple[Piece, ...]:
    """A sub-sentence if it is clear, else what it says in clauses of their own."""
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
    """The relative clauses on the subject and the object of a clause as clauses of their own."""
    if not isinstance(said.part, Clause):
        return []
    found = hoist(said, ("subject",), said.part.subject), hoist(said, ("object",), said.part.object)
    return [clause for clause in found if clause]


def hoist(said: Piece, path: Path, group: Group) -> Piece | None:
    """What is said of the group at the end of a path, as a clause of its own, in the same words."""
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
