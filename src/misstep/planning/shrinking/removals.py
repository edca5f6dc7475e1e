"""Steps that take out what lies round the sentences: whole families, trouble, tools that nobody needs."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from misstep.core.case import World
from misstep.core.constraint import FAMILIES, Family, family_of
from misstep.planning.language.hanging import without_times
from misstep.planning.language.semantics import constraints_of
from misstep.planning.language.syntax import Clause, Group, Sentence
from misstep.planning.shrinking.cuts import Steps
from misstep.planning.synthesis.plot import IDS
from misstep.planning.variation.anatomy import Anatomy
from misstep.planning.variation.announcements import Announcement
from misstep.planning.variation.editing.lines import close, lines_of, recast
from misstep.planning.variation.editing.paths import Piece, fill

Item = TypeVar("Item")


def drop_families(anatomy: Anatomy) -> Steps:
    """Everything that one family has to say, with its part of the world."""
    for family in FAMILIES:
        stripped = [recast(line, [_without(s, family) for s in line.parts]) for line in lines_of(anatomy)]
        changed = _quieted(anatomy, family)
        lines = [line for left in stripped for line in left]
        if changed != anatomy or lines != lines_of(anatomy):
            yield close(changed, lines)


def _without(said: Piece, family: Family) -> tuple[Piece, ...]:
    part = said.part
    if isinstance(part, Clause):
        if family == "order":
            return ()
        return (Piece(without_times(part), said.words) if family == "time" else said,)
    demands = constraints_of(Sentence((part,)), IDS, 0)
    return () if any(family_of(demand) == family for demand in demands) else (said,)


def _quieted(anatomy: Anatomy, family: Family) -> Anatomy:
    """The case without what a family holds of the world, as far as no sentence speaks of it."""
    if family == "time":
        return _in_world(anatomy, day=None, durations={}, attempts=1)
    if family == "dynamic":
        return _in_world(_changed(anatomy, announced=()), failures={})
    return anatomy


def drop_all_distractors(anatomy: Anatomy) -> Steps:
    if len(anatomy.distractors) > 1:
        yield _closed(_changed(anatomy, distractors=()))


def drop_distractors(anatomy: Anatomy) -> Steps:
    for fewer in _less_one(anatomy.distractors):
        yield _closed(_changed(anatomy, distractors=fewer))


def ease_world(anatomy: Anatomy) -> Steps:
    """Nothing is announced, nothing fails, nothing is out of service, and there is but one attempt."""
    voices = tuple(dict.fromkeys(c.announced for c in anatomy.announced))
    for fewer in ((), *_less_one(voices)) if voices else ():
        kept = tuple([c for c in anatomy.announced if c.announced in fewer])
        yield _closed(_changed(anatomy, announced=kept))
    yield from [_closed(_in_world(anatomy, **easier)) for easier in _easier(anatomy.world)]


def shorten_announcements(anatomy: Anatomy) -> Steps:
    """What a result announces, with one action fewer."""
    announcements = anatomy.announcements if anatomy.announced else []
    for number, announcement in enumerate(announcements):
        for shorter, lost in _shorter(announcement):
            told = [*announcements[:number], shorter, *announcements[number + 1 :]]
            kept = tuple(
                [
                    c
                    for c in anatomy.announced
                    if c.announced != announcement.voice or anatomy.actions[lost].id not in (c.first, c.then)
                ]
            )
            yield _closed(_changed(anatomy, announced=kept).announcing(told))


def _shorter(announcement: Announcement) -> Iterator[tuple[Announcement, int]]:
    (clause,) = announcement.sentence.parts
    assert isinstance(clause, Clause)
    for side in ("subject", "object"):
        actions = getattr(clause, side).actions
        for lost in actions if len(actions) > 1 else ():
            left = Group(tuple([action for action in actions if action != lost]))
            part = msgspec.structs.replace(clause, **{side: left})
            sentence = Sentence((part,))
            yield Announcement(announcement.voice, sentence, fill(sentence, [Piece(part, {})])), lost


def _easier(world: World) -> Iterator[dict[str, Any]]:
    if world.failures:
        yield {"failures": {}}
        for action, times in world.failures.items():
            yield {"failures": {other: often for other, often in world.failures.items() if other != action}}
            if times > 1:
                yield {"failures": {**world.failures, action: 1}}
    for fewer in _less_one(world.broken):
        yield {"broken": fewer}
    if world.attempts > 1:
        yield {"attempts": 1}


def _less_one(items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
    """All but one, for each of them."""
    for place in range(len(items)):
        yield (*items[:place], *items[place + 1 :])


def _changed(anatomy: Anatomy, **parts: object) -> Anatomy:
    return msgspec.structs.replace(anatomy, **parts)


def _in_world(anatomy: Anatomy, **parts: object) -> Anatomy:
    return _changed(anatomy, world=msgspec.structs.replace(anatomy.world, **parts))


def _closed(anatomy: Anatomy) -> Anatomy | None:
    return close(anatomy, lines_of(anatomy))
