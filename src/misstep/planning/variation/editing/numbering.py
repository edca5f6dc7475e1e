"""Gives the actions that are left their new numbers, wherever they are named."""

from collections.abc import Mapping
from typing import Any

import msgspec

from misstep.planning.language.remarks import (
    Alternative,
    Conditional,
    Duty,
    End,
    Giving,
    Limited,
    Neighbours,
    Passing,
    Remark,
    Repeated,
    Replacing,
    Spending,
    Timed,
    TimedRelative,
)
from misstep.planning.language.syntax import Clause, Free, Group, SubSentence

_NAMING: dict[type[Remark], tuple[str, ...]] = {
    Timed: ("actions",),
    Neighbours: ("subject", "object"),
    End: ("action",),
    Alternative: ("options",),
    Conditional: ("asks", "then", "otherwise"),
    Repeated: ("action",),
    Limited: ("action",),
    Spending: (),
    Passing: ("giver", "taker"),
    Replacing: ("action", "by"),
    Duty: ("actions",),
    Giving: ("action",),
}


def renumbered(part: SubSentence, numbers: Mapping[int, int]) -> SubSentence:
    """The same sub-sentence, with other numbers for its actions."""
    match part:
        case Clause(form, direction, subject, object_):
            return Clause(form, direction, _in_group(subject, numbers), _in_group(object_, numbers))
        case Free(subject):
            return Free(_in_group(subject, numbers))
        case _:
            changed = {name: _changed(getattr(part, name), numbers) for name in _NAMING[type(part)]}
            return msgspec.structs.replace(part, **changed)


def _in_group(group: Group, numbers: Mapping[int, int]) -> Group:
    relative = group.relative
    if relative and not isinstance(relative, TimedRelative):
        relative = msgspec.structs.replace(relative, object=_in_group(relative.object, numbers))
    return Group(_changed(group.actions, numbers), relative)


def _changed(named: Any, numbers: Mapping[int, int]) -> Any:
    """An action, several of them, or none."""
    if isinstance(named, tuple):
        return tuple([numbers[action] for action in named])
    return None if named is None else numbers[named]
