"""Sub-sentences with their phrases, found by paths, so that they are kept when the sentence changes."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TypeAlias, TypeVar, assert_never

import msgspec

from misstep.planning.language import syntax
from misstep.planning.language.clarity import is_clear, spoken_order
from misstep.planning.language.rendering import Option
from misstep.planning.variation.phrasing import Drawn, draw_words

# The path from a sub-sentence to a phrase, e.g. ("subject", "relative", "linker").
Path: TypeAlias = tuple[str, ...]
Wording: TypeAlias = Mapping[Path, Option]
Node = TypeVar("Node", bound=msgspec.Struct)


class Piece(msgspec.Struct, frozen=True):
    """A sub-sentence with its phrases; missing ones become the plainest phrase that fits."""

    part: syntax.SubSentence
    words: Wording


def paths(part: syntax.SubSentence) -> tuple[Path, ...]:
    """The paths to the phrases of a sub-sentence, in the order in which they are drawn."""
    match part:
        case syntax.Clause():
            return _clause_paths(part)
        case syntax.Free(subject):
            return (*_group_paths(subject, ("subject",)), ("verb",))
        case _:
            return tuple([(name,) for name in _remark_paths(part)])


def attribute(sentence: syntax.Sentence, words: Sequence[Option]) -> tuple[Piece, ...]:
    left = iter(words)
    return tuple([Piece(part, {path: next(left) for path in paths(part)}) for part in sentence.parts])


def fill(sentence: syntax.Sentence, said: Sequence[Piece]) -> Drawn:
    """The words of a sentence: those of its sub-sentences if they fit, else the plainest."""
    wanted = iter([each.words.get(path) for each in said for path in paths(each.part)])

    def draw(options: tuple[Option, ...]) -> Option:
        word = next(wanted, None)
        return word if word is not None and word in options else options[0]

    return draw_words(sentence, draw)


def _clause_paths(clause: syntax.Clause) -> tuple[Path, ...]:
    """A linker stands before its object; a neutral verb stands directly after its subject."""
    subject, object_ = _group_paths(clause.subject, ("subject",)), _group_paths(clause.object, ("object",))
    if clause.form == "verb":
        return (*subject, ("order",), *object_)
    main = (*subject, ("verb",))
    verb: tuple[Path, ...] = (("object", "verb"),) if clause.form.endswith("conjunction") else ()
    one, other = spoken_order(clause.form, main, (("linker",), *object_, *verb))
    return (*one, *other)


def _group_paths(group: syntax.Group, at: Path) -> tuple[Path, ...]:
    relative = group.relative
    if relative is None:
        return ()
    inside = (*at, "relative")
    if isinstance(relative, syntax.TimedRelative):
        return ((*inside, "edge"), (*inside, "linker"))
    own = ["order"] if relative.form == "verb" else ["verb", "linker"]
    inner = _group_paths(relative.object, (*inside, "object"))
    return (*[(*inside, name) for name in own], *inner)


def _remark_paths(remark: syntax.Remark) -> tuple[str, ...]:
    match remark:
        case syntax.Timed(form="verb"):
            return ("edge", "linker")
        case syntax.Timed():
            return ("linker", "edge")
        case syntax.Neighbours(form="preposition"):
            return ("verb", "linker")
        case syntax.Neighbours(form="fronted preposition"):
            return ("linker", "verb")
        case syntax.Neighbours() | syntax.End():
            return ("order",)
        case syntax.Alternative():
            return ("verb", "frame")
        case syntax.Conditional():
            last = "skip" if remark.otherwise is None else "other"
            if remark.form == "then first":
                return ("verb", "opener", "report", "otherwise", last)
            return ("opener", "report", "obligation", "otherwise", last)
        case syntax.RepeatRemark():
            return ("verb", "count")
        case syntax.Limited():
            return ("count", "frame")
        case syntax.Duty():
            return ("verb",)
        case syntax.BudgetRemark() | syntax.HandOver() | syntax.Replacing() | syntax.Giving():
            return ("frame",)
        case _:
            assert_never(remark)


def untangled(said: Piece) -> tuple[Piece, ...]:
    """A sub-sentence if it is clear, else the same in several clauses."""
    relatives = [] if is_clear(said.part) else hoisted(said)
    if not relatives:
        return (said,)
    return tuple([plain for each in (bare(said), *relatives) for plain in untangled(each)])


def bare(said: Piece) -> Piece:
    assert isinstance(said.part, syntax.Clause)
    subject, object_ = syntax.Group(said.part.subject.actions), syntax.Group(said.part.object.actions)
    return Piece(msgspec.structs.replace(said.part, subject=subject, object=object_), said.words)


def hoisted(said: Piece) -> list[Piece]:
    """The relative clauses on the subject and the object of a clause as separate clauses."""
    if not isinstance(said.part, syntax.Clause):
        return []
    found = hoist(said, ("subject",), said.part.subject), hoist(said, ("object",), said.part.object)
    return [clause for clause in found if clause]


def hoist(said: Piece, path: Path, group: syntax.Group) -> Piece | None:
    """What is said of the group at the end of a path, as a separate clause, in the same words."""
    path, depth = (*path, "relative"), len(path) + 1
    words = {other[depth:]: word for other, word in said.words.items() if other[:depth] == path}
    match group.relative:
        case None:
            return None
        case syntax.TimedRelative(edge, bound, time):
            return Piece(syntax.Timed("verb", edge, bound, time, group.actions), words)
        case relative:
            about = syntax.Group(group.actions)
            return Piece(syntax.Clause(relative.form, relative.direction, about, relative.object), words)


def without(said: Piece, gone: Set[int]) -> tuple[Piece, ...]:
    """What is left of a sub-sentence without some actions; possibly nothing.

    If a clause loses its subject or its object, a relative clause on the other becomes a clause itself.
    """
    part = said.part
    if syntax.actions_in(part).isdisjoint(gone):
        return (said,)
    match part:
        case syntax.Clause():
            return _cut_clause(said, part, gone)
        case syntax.Free(subject):
            left = _cut_group(subject, gone)
            return (Piece(syntax.Free(left), said.words),) if left else ()
        case syntax.Timed(actions=actions) | syntax.Duty(actions):
            kept = tuple([action for action in actions if action not in gone])
            return (Piece(msgspec.structs.replace(part, actions=kept), said.words),) if kept else ()
        case syntax.Conditional(asks, _, then, otherwise) if otherwise in gone and not gone & {asks, then}:
            return (Piece(msgspec.structs.replace(part, otherwise=None), said.words),)
        case _:
            return ()


def _cut_clause(said: Piece, clause: syntax.Clause, gone: Set[int]) -> tuple[Piece, ...]:
    subject, object_ = _cut_group(clause.subject, gone), _cut_group(clause.object, gone)
    if subject and object_:
        return (Piece(msgspec.structs.replace(clause, subject=subject, object=object_), said.words),)
    left = [("subject", subject), ("object", object_)]
    alone = [hoist(said, (name,), group) for name, group in left if group]
    return tuple([clause for clause in alone if clause])


def _cut_group(group: syntax.Group, gone: Set[int]) -> syntax.Group | None:
    kept = tuple([action for action in group.actions if action not in gone])
    if not kept:
        return None
    relative = group.relative
    if relative and not isinstance(relative, syntax.TimedRelative):
        object_ = _cut_group(relative.object, gone)
        relative = msgspec.structs.replace(relative, object=object_) if object_ else None
    return syntax.Group(kept, relative)


def places_in(clause: syntax.Clause) -> Iterator[tuple[Path, syntax.Group]]:
    """Every group with the path to it: ("subject",), ("object", "relative", "object"), …"""
    for name, outer in (("subject", clause.subject), ("object", clause.object)):
        for depth, group in enumerate(syntax.nested(outer)):
            yield (name, *("relative", "object") * depth), group


def regrouped(node: Node, path: Sequence[str], group: syntax.Group) -> Node:
    """The clause with another group at the end of a path."""
    name, *deeper = path
    inner = regrouped(getattr(node, name), deeper, group) if deeper else group
    return msgspec.structs.replace(node, **{name: inner})
