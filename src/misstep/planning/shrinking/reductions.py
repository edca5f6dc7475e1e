"""All steps that make a problem smaller or plainer, the most drastic first.

The first steps are guesses from the verdict; others remove families, faults and distractor tools.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

import msgspec

from misstep.core.case import World
from misstep.core.constraint import FAMILIES, Before, Family, family_of
from misstep.core.outcome import Outcome
from misstep.planning.language.clarity import without_times
from misstep.planning.language.semantics import constraints_of
from misstep.planning.language.syntax import Clause, Group, Sentence
from misstep.planning.shrinking.cuts import (
    Steps,
    drop_actions,
    drop_actions_tightly,
    drop_many_actions,
    drop_many_sentences,
    drop_parts,
    drop_relatives,
    drop_sentences,
    keep_sentences,
    merely_mention,
    shorten_lists,
)
from misstep.planning.shrinking.measure import (
    ease_remarks,
    measure,
    simplify_announcements,
    simplify_everything,
    simplify_forms,
    simplify_phrases,
    split_sentences,
)
from misstep.planning.synthesis.plot import IDS
from misstep.planning.variation.anatomy import Anatomy, WordedAnnouncement
from misstep.planning.variation.editing.lines import close, forget, lines_of, recast
from misstep.planning.variation.editing.paths import Piece, fill


def focus(anatomy: Anatomy, outcome: Outcome) -> Steps:
    """The problem with only the actions that the verdict names, or only the sentences.

    `outcome` is a failure of exactly this problem.
    """
    verdict = outcome.verdict
    broken = [outcome.case.constraints[index] for index in verdict.core]
    ordered = [(c.first, c.then, c.announced) for c in broken if isinstance(c, Before)]
    named = {*verdict.missing}.union(*ordered)
    if named:
        yield forget(anatomy, {i for i, action in enumerate(anatomy.actions) if action.id not in named})
    sentences = {c.sentence for c in broken if c.sentence is not None}
    if sentences:
        yield keep_sentences(anatomy, sentences)


Item = TypeVar("Item")


def drop_families(anatomy: Anatomy) -> Steps:
    """Remove everything that belongs to one family, with its part of the world."""
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
    """The case without a family's part of the world, as far as no sentence mentions it."""
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
    """Remove announcements, failures, broken tools and further attempts."""
    voices = tuple(dict.fromkeys(c.announced for c in anatomy.announced))
    for fewer in ((), *_less_one(voices)) if voices else ():
        kept = tuple([c for c in anatomy.announced if c.announced in fewer])
        yield _closed(_changed(anatomy, announced=kept))
    yield from [_closed(_in_world(anatomy, **easier)) for easier in _easier(anatomy.world)]


def shorten_announcements(anatomy: Anatomy) -> Steps:
    """Shorten an announcement by one action."""
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


def _shorter(announcement: WordedAnnouncement) -> Iterator[tuple[WordedAnnouncement, int]]:
    (clause,) = announcement.sentence.parts
    assert isinstance(clause, Clause)
    for side in ("subject", "object"):
        actions = getattr(clause, side).actions
        for lost in actions if len(actions) > 1 else ():
            left = Group(tuple([action for action in actions if action != lost]))
            part = msgspec.structs.replace(clause, **{side: left})
            sentence = Sentence((part,))
            yield WordedAnnouncement(announcement.voice, sentence, fill(sentence, [Piece(part, {})])), lost


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


Stage: TypeAlias = Callable[[Anatomy], Steps]

STAGES: tuple[Stage, ...] = (
    drop_many_actions,
    drop_many_sentences,
    drop_families,
    drop_all_distractors,
    drop_actions,
    drop_actions_tightly,
    drop_sentences,
    simplify_everything,
    drop_distractors,
    ease_world,
    shorten_announcements,
    drop_parts,
    drop_relatives,
    shorten_lists,
    merely_mention,
    split_sentences,
    ease_remarks,
    simplify_forms,
    simplify_phrases,
    simplify_announcements,
)


def smaller(anatomy: Anatomy, stage: Stage) -> Iterator[Anatomy]:
    """The results of one kind of step that make the problem smaller."""
    now = measure(anatomy)
    return (step for step in stage(anatomy) if step is not None and measure(step) < now)
