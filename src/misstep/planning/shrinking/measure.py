"""A measure of how small and plain a problem is, and steps that say the same more plainly.

Every step has to reduce the measure, which guarantees termination.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from misstep.core.case import World
from misstep.planning.language.clarity import is_clear
from misstep.planning.language.rendering import Option
from misstep.planning.language.semantics import constraints_of
from misstep.planning.language.syntax import (
    Clause,
    Conditional,
    Form,
    Group,
    Neighbours,
    Relative,
    RepeatRemark,
    Sentence,
    SubSentence,
    Timed,
    TimedRelative,
    actions_in,
    groups_in,
)
from misstep.planning.variation.anatomy import Anatomy, WordedAnnouncement
from misstep.planning.variation.lines import EditedSentence, close, lines_of, rewrite, spoken
from misstep.planning.variation.phrasing import options_of
from misstep.planning.variation.pieces import Piece, fill, hoist, paths, places_in, regrouped

Measure: TypeAlias = tuple[int, ...]
Steps: TypeAlias = Iterator[Anatomy | None]

# The plainest first: "A precedes B" is shortest, and opening phrases reverse the order.
PLAINNESS: tuple[Form, ...] = (
    "verb",
    "preposition",
    "conjunction",
    "fronted preposition",
    "fronted conjunction",
)


def measure(anatomy: Anatomy) -> Measure:
    """A tuple compared from left to right; smaller is smaller or plainer, and it is well-founded.

    What there is to do comes first, then what is demanded, then how it is said.
    """
    parts = [part for sentence in anatomy.paragraph for part in sentence.parts]
    relatives = [group.relative for part in parts for group in groups_in(part) if group.relative]
    announced = [(announcement.sentence, announcement.words) for announcement in anatomy.announcements]
    worded = [*zip(anatomy.paragraph, anatomy.words, strict=True), *announced]
    return (
        len(anatomy.actions),
        len(anatomy.distractors),
        len(anatomy.announced)
        + sum([len(constraints_of(Sentence((part,)), anatomy.ids, 0)) for part in parts]),
        _trouble(anatomy.world) + sum([part.times for part in parts if isinstance(part, RepeatRemark)]),
        len(relatives),
        sum([len(sentence.joins) for sentence in anatomy.paragraph]),
        sum([len(actions_in(part)) for part in parts]),
        len(anatomy.paragraph),
        sum(map(stiffness, [*parts, *relatives, *[sentence.parts[0] for sentence, _ in announced]])),
        sum([_rarity(sentence, words) for sentence, words in worded]),
    )


def stiffness(said: SubSentence | Relative | TimedRelative) -> int:
    """How far its form is from the plainest of its kind."""
    match said:
        case Clause(form=form) | Relative(form=form) | Neighbours(form=form):
            return PLAINNESS.index(form)
        case Timed(form=form):
            return int(form != "verb")
        case _:
            return 0


def _trouble(world: World) -> int:
    """Number of failures in a world, and whether there is a day to schedule."""
    return (world.day is not None) + world.attempts + sum(world.failures.values()) + len(world.broken)


def _rarity(sentence: Sentence, words: Sequence[Option]) -> int:
    offered = zip(options_of(sentence), words, strict=True)
    return sum([options.index(word) for options, word in offered])


LEAST_TIMES = 2  # fewer is not a repetition


def split_sentences(anatomy: Anatomy) -> Steps:
    """Split a joined sentence into two, or turn a relative clause into a sentence of its own."""
    lines = lines_of(anatomy)
    for number, line in enumerate(lines):
        for cut in range(1, len(line.parts)):
            one = EditedSentence(line.parts[:cut], line.joins[: cut - 1], line.redundant)
            other = EditedSentence(line.parts[cut:], line.joins[cut:], line.redundant)
            yield close(anatomy, [*lines[:number], one, other, *lines[number + 1 :]])
    for number, place, said in spoken(anatomy):
        if not isinstance(said.part, Clause):
            continue
        for path, group in places_in(said.part):
            clause = hoist(said, path, group)
            if clause:
                rest = Piece(regrouped(said.part, path, Group(group.actions)), said.words)
                yield rewrite(anatomy, number, place, (rest, clause))


def ease_remarks(anatomy: Anatomy) -> Steps:
    """Remove the second branch of a condition, and reduce repetitions to two."""
    for number, place, said in spoken(anatomy):
        match said.part:
            case Conditional(otherwise=int()):
                easier: SubSentence = replace(said.part, otherwise=None)
            case RepeatRemark(times=times) if times > LEAST_TIMES:
                easier = replace(said.part, times=LEAST_TIMES)
            case _:
                continue
        yield rewrite(anatomy, number, place, [Piece(easier, said.words)])


def simplify_everything(anatomy: Anatomy) -> Steps:
    """Use the plainest forms and phrases everywhere at once."""
    yield _reworded(anatomy, lambda said: Piece(_plainest(said.part), {}))


def simplify_forms(anatomy: Anatomy) -> Steps:
    """Use the plainest forms everywhere, then one plainer form at a time."""
    yield _reworded(anatomy, lambda said: Piece(_plainest(said.part), said.words))
    for number, place, said in spoken(anatomy):
        for plainer in _plainer(said.part):
            yield rewrite(anatomy, number, place, [Piece(plainer, said.words)])


def simplify_phrases(anatomy: Anatomy) -> Steps:
    """Use the plainest phrases everywhere, then one phrase at a time."""
    yield _reworded(anatomy, lambda said: Piece(said.part, {}))
    for number, place, said in spoken(anatomy):
        for path in paths(said.part):
            words = {other: word for other, word in said.words.items() if other != path}
            yield rewrite(anatomy, number, place, [Piece(said.part, words)])


def simplify_announcements(anatomy: Anatomy) -> Steps:
    if anatomy.announced:
        plain = [(each.voice, _plainest(each.sentence.parts[0])) for each in anatomy.announcements]
        yield anatomy.announcing([announced_plainly(voice, part) for voice, part in plain])


def announced_plainly(voice: str, part: SubSentence) -> WordedAnnouncement:
    sentence = Sentence((part,))
    return WordedAnnouncement(voice, sentence, fill(sentence, [Piece(part, {})]))


def _reworded(anatomy: Anatomy, change: Callable[[Piece], Piece]) -> Anatomy | None:
    return close(anatomy, [replace(line, parts=tuple(map(change, line.parts))) for line in lines_of(anatomy)])


def _plainest(part: SubSentence) -> SubSentence:
    plainer = next(_plainer(part), None)
    return part if plainer is None else _plainest(plainer)


def _plainer(part: SubSentence) -> Iterator[SubSentence]:
    """The same in plainer forms, one changed at a time, the plainest first, as far as they are clear."""
    match part:
        case Clause() | Neighbours():
            for form in PLAINNESS[: stiffness(part)]:
                plainer = replace(part, form=form)
                if is_clear(plainer) and (isinstance(part, Clause) or form != "conjunction"):
                    yield plainer
        case Timed(form="fronted"):
            yield replace(part, form="verb")
    if isinstance(part, Clause):
        for path, group in places_in(part):
            if isinstance(group.relative, Relative) and group.relative.form != "verb":
                relative = replace(group.relative, form="verb")
                yield regrouped(part, path, Group(group.actions, relative))


# The least drastic steps, in the order in which to try them.
LAST_STEPS = (split_sentences, ease_remarks, simplify_forms, simplify_phrases, simplify_announcements)
