"""The groups of a clause, wherever they stand in it."""

from collections.abc import Iterator

import msgspec

from misstep.planning.language.syntax import Clause, Group, Relative
from misstep.planning.variation.editing.paths import Path


def groups_in(clause: Clause) -> Iterator[tuple[Path, Group]]:
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
