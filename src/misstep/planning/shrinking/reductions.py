"""All steps that make a problem smaller or plainer: guesses from the verdict, then the most drastic first."""

from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any, TypeAlias, TypeVar

from msgspec.structs import replace

from misstep.core.case import World
from misstep.core.constraint import FAMILIES, Before, Family, family_of
from misstep.core.outcome import Outcome
from misstep.planning.language.clarity import without_times
from misstep.planning.language.semantics import constraints_of
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
from misstep.planning.shrinking.measure import (
    LAST_STEPS,
    Steps,
    announced_plainly,
    measure,
    simplify_everything,
)
from misstep.planning.synthesis.plot import IDS
from misstep.planning.variation.anatomy import Anatomy, WordedAnnouncement, is_about_order
from misstep.planning.variation.lines import EditedSentence, close, forget, lines_of, recast, rewrite, spoken
from misstep.planning.variation.pieces import Piece, hoisted, places_in, regrouped
from misstep.planning.variation.retelling import mention


def drop_many_actions(anatomy: Anatomy) -> Steps:
    for gone in _chunks(len(anatomy.actions)):
        yield forget(anatomy, gone)


def drop_actions(anatomy: Anatomy) -> Steps:
    for action in range(len(anatomy.actions)):
        yield forget(anatomy, {action})


def drop_many_sentences(anatomy: Anatomy) -> Steps:
    for gone in _chunks(len(anatomy.paragraph)):
        yield _without_sentences(anatomy, gone)


def drop_sentences(anatomy: Anatomy) -> Steps:
    for number in range(len(anatomy.paragraph)):
        yield _without_sentences(anatomy, {number})


def _without_sentences(anatomy: Anatomy, gone: Set[int]) -> Anatomy | None:
    """The problem without some sentences; those that give arguments stay with their actions."""
    lines = lines_of(anatomy)
    return close(anatomy, [line for number, line in enumerate(lines) if number not in gone or line.gives])


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
                yield replace(part, actions=actions)


def merely_mention(anatomy: Anatomy) -> Steps:
    """Replace a demand, or one action in a list, with a mere mention, so that its actions stay due."""
    lines = lines_of(anatomy)
    for number, place, said in spoken(anatomy):
        if isinstance(said.part, Free | Duty | Giving):
            continue
        line = lines[number]
        for left in ((), *[(Piece(shorter, said.words),) for shorter in _shortened(said.part)]):
            parts = [left if other == place else (each,) for other, each in enumerate(line.parts)]
            rest = recast(line, parts)
            others = [*lines[:number], *rest, *lines[number + 1 :]]
            due = {action for other in others if not other.gives for action in other.actions}
            if lost := sorted(actions_in(said.part) - due):
                yield close(anatomy, _mentioning(others, lost, is_about_order(anatomy)))


def _mentioning(lines: Sequence[EditedSentence], actions: Sequence[int], free: bool) -> list[EditedSentence]:
    """The lines with a mention of these actions, added to an existing mention or at the end."""
    for number, line in enumerate(lines):
        part = line.parts[0].part
        if isinstance(part, Free | Duty) and len(line.parts) == 1:
            if isinstance(part, Duty):
                longer: Free | Duty = Duty((*part.actions, *actions))
            else:
                longer = Free(Group((*part.subject.actions, *actions), part.subject.relative))
            said = EditedSentence((Piece(longer, line.parts[0].words),))
            return [*lines[:number], said, *lines[number + 1 :]]
    return [*lines, EditedSentence((Piece(mention(actions, free).parts[0], {}),))]


def _one_fewer(actions: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [*_less_one(actions)] if len(actions) > 1 else []


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
    paragraph = [
        Sentence(tuple([_tighter(part, minutes) for part in sentence.parts]), sentence.joins)
        for sentence in anatomy.paragraph
    ]
    return replace(anatomy, paragraph=tuple(paragraph))


def _tighter(part: SubSentence, minutes: int) -> SubSentence:
    match part:
        case Limited(most=most):
            return replace(part, most=max(1, most - 1))
        case Timed():
            return _sooner(part, minutes)
        case _:
            return change_groups(part, lambda group: Group(group.actions, _sooner(group.relative, minutes)))


def _sooner(said: Time, minutes: int) -> Time:
    """Move a deadline earlier; everything else stays as it is."""
    if not isinstance(said, Timed | TimedRelative) or said.bound == "after":
        return said
    return replace(said, time=max(0, said.time - minutes))


def focus(anatomy: Anatomy, outcome: Outcome) -> Steps:
    """The problem with only the actions, or only the sentences, that the verdict of its failure names."""
    verdict = outcome.verdict
    broken = [outcome.case.constraints[index] for index in verdict.core]
    ordered = [(c.first, c.then, c.announced) for c in broken if isinstance(c, Before)]
    named = {*verdict.missing}.union(*ordered)
    if named:
        yield forget(anatomy, {i for i, action in enumerate(anatomy.actions) if action.id not in named})
    sentences = {c.sentence for c in broken if c.sentence is not None}
    if sentences:
        yield _without_sentences(anatomy, {*range(len(anatomy.paragraph))} - sentences)


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
        return _in_world(replace(anatomy, announced=()), failures={})
    return anatomy


def drop_all_distractors(anatomy: Anatomy) -> Steps:
    if len(anatomy.distractors) > 1:
        yield _closed(replace(anatomy, distractors=()))


def drop_distractors(anatomy: Anatomy) -> Steps:
    for fewer in _less_one(anatomy.distractors):
        yield _closed(replace(anatomy, distractors=fewer))


def ease_world(anatomy: Anatomy) -> Steps:
    """Remove announcements, failures, broken tools and further attempts."""
    voices = tuple(dict.fromkeys(c.announced for c in anatomy.announced))
    for fewer in ((), *_less_one(voices)) if voices else ():
        kept = tuple([c for c in anatomy.announced if c.announced in fewer])
        yield _closed(replace(anatomy, announced=kept))
    yield from [_closed(_in_world(anatomy, **easier)) for easier in _easier(anatomy.world)]


def shorten_announcements(anatomy: Anatomy) -> Steps:
    announcements = anatomy.announcements if anatomy.announced else []
    for number, announcement in enumerate(announcements):
        for shorter, lost in _shorter(announcement):
            told = [*announcements[:number], shorter, *announcements[number + 1 :]]
            gone = anatomy.actions[lost].id
            kept = [
                c
                for c in anatomy.announced
                if c.announced != announcement.voice or gone not in (c.first, c.then)
            ]
            yield _closed(replace(anatomy, announced=tuple(kept)).announcing(told))


def _shorter(announcement: WordedAnnouncement) -> Iterator[tuple[WordedAnnouncement, int]]:
    (clause,) = announcement.sentence.parts
    assert isinstance(clause, Clause)
    for side in ("subject", "object"):
        actions = getattr(clause, side).actions
        for lost in actions if len(actions) > 1 else ():
            left = Group(tuple([action for action in actions if action != lost]))
            part = replace(clause, **{side: left})
            yield announced_plainly(announcement.voice, part), lost


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
    for place in range(len(items)):
        yield (*items[:place], *items[place + 1 :])


def _in_world(anatomy: Anatomy, **parts: object) -> Anatomy:
    return replace(anatomy, world=replace(anatomy.world, **parts))


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
    *LAST_STEPS,
)


def smaller(anatomy: Anatomy, stage: Stage) -> Iterator[Anatomy]:
    """The results of one kind of step that make the problem smaller."""
    now = measure(anatomy)
    return (step for step in stage(anatomy) if step is not None and measure(step) < now)
