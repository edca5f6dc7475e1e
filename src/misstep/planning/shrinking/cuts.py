"""Reduction steps that remove sentences, parts of them, list items or actions."""

from collections.abc import Iterator, Sequence, Set
from typing import TypeAlias, TypeVar

import msgspec

from misstep.planning.language.syntax import (
    Clause,
    Duty,
    Free,
    Giving,
    Group,
    Limited,
    Relative,
    Sentence,
    SubSentence,
    Timed,
    TimedRelative,
    actions_in,
    change_groups,
)
from misstep.planning.variation.anatomy import Anatomy, is_about_order
from misstep.planning.variation.editing.cutting import hoisted, places_in, regrouped
from misstep.planning.variation.editing.lines import (
    EditedSentence,
    actions_in_line,
    close,
    forget,
    lines_of,
    recast,
    rewrite,
    spoken,
)
from misstep.planning.variation.editing.paths import Piece
from misstep.planning.variation.rewriting.retelling import mention

Steps: TypeAlias = Iterator[Anatomy | None]


def drop_many_actions(anatomy: Anatomy) -> Steps:
    for gone in _chunks(len(anatomy.actions)):
        yield forget(anatomy, gone)


def drop_actions(anatomy: Anatomy) -> Steps:
    for action in range(len(anatomy.actions)):
        yield forget(anatomy, {action})


def drop_many_sentences(anatomy: Anatomy) -> Steps:
    everything = {*range(len(anatomy.paragraph))}
    for gone in _chunks(len(everything)):
        yield keep_sentences(anatomy, everything - gone)


def drop_sentences(anatomy: Anatomy) -> Steps:
    everything = range(len(anatomy.paragraph))
    for number in everything:
        yield keep_sentences(anatomy, {*everything} - {number})


def keep_sentences(anatomy: Anatomy, kept: Set[int]) -> Anatomy | None:
    """The problem with some sentences only; those that give arguments stay with their actions."""
    lines = lines_of(anatomy)
    return close(anatomy, [line for number, line in enumerate(lines) if number in kept or line.gives])


def drop_parts(anatomy: Anatomy) -> Steps:
    """Remove one part of a joined sentence, or a clause while its relative clauses stay."""
    for number, place, said in spoken(anatomy):
        if len(anatomy.paragraph[number].parts) > 1:
            yield rewrite(anatomy, number, place, ())
        if relatives := hoisted(said):
            yield rewrite(anatomy, number, place, relatives)


def drop_relatives(anatomy: Anatomy) -> Steps:
    for number, place, said in spoken(anatomy):
        if isinstance(said.part, Clause):
            for path, group in places_in(said.part):
                if group.relative:
                    changed = regrouped(said.part, path, Group(group.actions))
                    yield rewrite(anatomy, number, place, [Piece(changed, said.words)])


def shorten_lists(anatomy: Anatomy) -> Steps:
    """Remove one action from one list; it may still be mentioned elsewhere."""
    for number, place, said in spoken(anatomy):
        for shorter in _shortened(said.part):
            yield rewrite(anatomy, number, place, [Piece(shorter, said.words)])


def _shortened(part: SubSentence) -> Iterator[SubSentence]:
    match part:
        case Clause():
            for path, group in places_in(part):
                for actions in _one_fewer(group.actions):
                    yield regrouped(part, path, Group(actions, group.relative))
        case Free(group):
            for actions in _one_fewer(group.actions):
                yield Free(Group(actions, group.relative))
        case Timed() | Duty():
            for actions in _one_fewer(part.actions):
                yield msgspec.structs.replace(part, actions=actions)


def merely_mention(anatomy: Anatomy) -> Steps:
    """Replace a demand, or one action in a list, with a mere mention, so that its actions stay due."""
    lines = lines_of(anatomy)
    for number, place, said in spoken(anatomy):
        if isinstance(said.part, Free | Duty | Giving):
            continue
        line = lines[number]
        for left in ((), *[(Piece(shorter, said.words),) for shorter in _shortened(said.part)]):
            rest = recast(
                line, [left if other == place else (each,) for other, each in enumerate(line.parts)]
            )
            others = [*lines[:number], *rest, *lines[number + 1 :]]
            due = {action for other in others if not other.gives for action in actions_in_line(other)}
            if lost := sorted(actions_in(said.part) - due):
                yield close(anatomy, _mentioning(others, lost, is_about_order(anatomy)))


def _mentioning(lines: Sequence[EditedSentence], actions: Sequence[int], free: bool) -> list[EditedSentence]:
    """The lines with a mention of these actions, added to an existing mention or at the end."""
    for number, line in enumerate(lines):
        part = line.parts[0].part
        if isinstance(part, Free | Duty) and len(line.parts) == 1:
            longer = _longer(part, actions)
            return [
                *lines[:number],
                EditedSentence((Piece(longer, line.parts[0].words),)),
                *lines[number + 1 :],
            ]
    return [*lines, EditedSentence((Piece(mention(actions, free).parts[0], {}),))]


def _longer(part: Free | Duty, actions: Sequence[int]) -> Free | Duty:
    if isinstance(part, Duty):
        return Duty((*part.actions, *actions))
    return Free(Group((*part.subject.actions, *actions), part.subject.relative))


def _one_fewer(actions: tuple[int, ...]) -> list[tuple[int, ...]]:
    """A list without each of its members; empty for a single one."""
    if len(actions) == 1:
        return []
    return [actions[:place] + actions[place + 1 :] for place in range(len(actions))]


def _chunks(count: int) -> Iterator[set[int]]:
    """Halves, quarters, … of this many items, as long as they contain more than one."""
    size = -(-count // 2)
    while 1 < size < count:
        for start in range(0, count, size):
            yield {*range(start, min(start + size, count))}
        size = -(-size // 2)


Time = TypeVar("Time", bound=Timed | Relative | TimedRelative | None)


def drop_actions_tightly(anatomy: Anatomy) -> Steps:
    """Remove an action and tighten deadlines by its duration and limits by one."""
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
        case _:
            return change_groups(part, lambda group: Group(group.actions, _sooner(group.relative, minutes)))


def _sooner(said: Time, minutes: int) -> Time:
    """Move a deadline earlier; everything else stays as it is."""
    if not isinstance(said, Timed | TimedRelative) or said.bound == "after":
        return said
    return msgspec.structs.replace(said, time=max(0, said.time - minutes))
