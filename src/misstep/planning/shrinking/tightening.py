"""Steps that drop an action, and tighten what it had made hard to keep to."""

from typing import TypeVar

import msgspec

from misstep.planning.language.remarks import Limited, Timed, TimedRelative
from misstep.planning.language.syntax import Clause, Group, Sentence, SubSentence
from misstep.planning.shrinking.cuts import Steps
from misstep.planning.variation.anatomy import Anatomy
from misstep.planning.variation.editing.groups import groups_in, regrouped
from misstep.planning.variation.editing.lines import forget

Time = TypeVar("Time", Timed, TimedRelative)


def drop_actions_tightly(anatomy: Anatomy) -> Steps:
    """Deadlines come earlier by the time that the action would have taken, limits are one less."""
    for number, action in enumerate(anatomy.actions):
        smaller = forget(anatomy, {number})
        tight = _tightened(smaller, anatomy.world.durations.get(action.id, 0)) if smaller else None
        if tight != smaller:
            yield tight


def _tightened(anatomy: Anatomy, minutes: int) -> Anatomy:
    paragraph = tuple(
        [
            Sentence(tuple([_tighter(part, minutes) for part in sentence.parts]), sentence.joins)
            for sentence in anatomy.paragraph
        ]
    )
    return msgspec.structs.replace(anatomy, paragraph=paragraph)


def _tighter(part: SubSentence, minutes: int) -> SubSentence:
    match part:
        case Limited(most=most):
            return msgspec.structs.replace(part, most=max(1, most - 1))
        case Timed():
            return _sooner(part, minutes)
        case Clause():
            for path, group in groups_in(part):
                if isinstance(group.relative, TimedRelative):
                    part = regrouped(part, path, Group(group.actions, _sooner(group.relative, minutes)))
    return part


def _sooner(said: Time, minutes: int) -> Time:
    """A deadline comes earlier; a time before which nothing may happen stays as it is."""
    if said.bound == "after":
        return said
    return msgspec.structs.replace(said, time=max(0, said.time - minutes))
