"""Relative clauses about time, hung on a clause or taken off it."""

from collections.abc import Iterator

import msgspec

from misstep.planning.language.remarks import TimedRelative
from misstep.planning.language.syntax import Clause, Group, Relative, Sentence


def with_time(sentence: Sentence, action: int, time: TimedRelative) -> Iterator[Sentence]:
    """The sentence with a time said of an action, wherever that stands alone.

    One relative clause is enough for a clause, and at the end it would swallow what a comma ties to it.
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
    """The clause with no time said of any of its actions."""
    subject, object_ = _without_times(clause.subject), _without_times(clause.object)
    return Clause(clause.form, clause.direction, subject, object_)


def _without_times(group: Group) -> Group:
    relative = group.relative
    if relative is None or isinstance(relative, TimedRelative):
        return Group(group.actions)
    inner = Relative(relative.form, relative.direction, _without_times(relative.object))
    return Group(group.actions, inner)
