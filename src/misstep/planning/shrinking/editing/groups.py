"""The groups of a clause, wherever they stand in it."""

from collections.abc import Iterator

import msgspec

from misstep.planning.language.syntax import Clause, Group, Relative
from misstep.planning.shrinking.editing.places import Place


def groups_in(clause: Clause) -> Iterator[tuple[Place, Group]]:
    """Every group with its place: ("subject",), ("object", "relative", "object"), …"""
    yield from _from(("subject",), clause.subject)
    yield from _from(("object",), clause.object)


def _from(place: Place, group: Group) -> Iterator[tuple[Place, Group]]:
    yield place, group
    if isinstance(group.relative, Relative):
        yield from _from((*place, "relative", "object"), group.relative.object)


def regrouped(clause: Clause, place: Place, group: Group) -> Clause:
    """The clause with another group in a place."""
    name, *deeper = place
    inner = _regroup(getattr(clause, name), deeper, group)
    return msgspec.structs.replace(clause, **{name: inner})


def _regroup(outer: Group, place: list[str], group: Group) -> Group:
    if not place:
        return group
    assert isinstance(outer.relative, Relative)
    inner = _regroup(outer.relative.object, place[2:], group)
    return Group(outer.actions, msgspec.structs.replace(outer.relative, object=inner))
