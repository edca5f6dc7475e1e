"""Steps that leave a problem as it is, and say it more plainly."""

from collections.abc import Callable, Iterator

import msgspec

from misstep.planning.language.clarity import is_clear
from misstep.planning.language.remarks import Conditional, Neighbours, Repeated, Timed
from misstep.planning.language.syntax import Clause, Group, Relative, Sentence, SubSentence
from misstep.planning.shrinking.cuts import Steps
from misstep.planning.shrinking.measure import PLAINNESS, stiffness
from misstep.planning.variation.anatomy import Anatomy
from misstep.planning.variation.announcements import Announcement
from misstep.planning.variation.editing.groups import groups_in, regrouped
from misstep.planning.variation.editing.hoisting import hoist
from misstep.planning.variation.editing.lines import Line, close, lines_of, rewrite, spoken
from misstep.planning.variation.editing.paths import Piece, fill, paths

LEAST_TIMES = 2  # fewer is not a repetition


def split_sentences(anatomy: Anatomy) -> Steps:
    """A joined sentence becomes two, and a relative clause a sentence of its own."""
    lines = lines_of(anatomy)
    for number, line in enumerate(lines):
        for cut in range(1, len(line.parts)):
            one = Line(line.parts[:cut], line.joins[: cut - 1], line.redundant)
            other = Line(line.parts[cut:], line.joins[cut:], line.redundant)
            yield close(anatomy, [*lines[:number], one, other, *lines[number + 1 :]])
    for number, place, said in spoken(anatomy):
        for apart in _unnested(said):
            yield rewrite(anatomy, number, place, apart)


def _unnested(said: Piece) -> Iterator[tuple[Piece, ...]]:
    if isinstance(said.part, Clause):
        for path, group in groups_in(said.part):
            clause = hoist(said, path, group)
            if clause:
                yield Piece(regrouped(said.part, path, Group(group.actions)), said.words), clause


def ease_remarks(anatomy: Anatomy) -> Steps:
    """No second branch, and no more repetitions than it takes."""
    for number, place, said in spoken(anatomy):
        match said.part:
            case Conditional(otherwise=int()):
                easier: SubSentence = msgspec.structs.replace(said.part, otherwise=None)
            case Repeated(times=times) if times > LEAST_TIMES:
                easier = msgspec.structs.replace(said.part, times=LEAST_TIMES)
            case _:
                continue
        yield rewrite(anatomy, number, place, [Piece(easier, said.words)])


def simplify_everything(anatomy: Anatomy) -> Steps:
    """The plainest forms and the plainest phrases, everywhere at once."""
    yield _reworded(anatomy, lambda said: Piece(_plainest(said.part), {}))


def simplify_forms(anatomy: Anatomy) -> Steps:
    """The plainest forms everywhere, then one plainer form at a time."""
    yield _reworded(anatomy, lambda said: Piece(_plainest(said.part), said.words))
    for number, place, said in spoken(anatomy):
        for plainer in _plainer(said.part):
            yield rewrite(anatomy, number, place, [Piece(plainer, said.words)])


def simplify_phrases(anatomy: Anatomy) -> Steps:
    """The plainest phrases everywhere, then one phrase at a time."""
    yield _reworded(anatomy, lambda said: Piece(said.part, {}))
    for number, place, said in spoken(anatomy):
        for path in paths(said.part):
            words = {other: word for other, word in said.words.items() if other != path}
            yield rewrite(anatomy, number, place, [Piece(said.part, words)])


def simplify_announcements(anatomy: Anatomy) -> Steps:
    """The plainest forms and phrases for what results announce."""
    if anatomy.announced:
        yield anatomy.announcing(map(_plainly_announced, anatomy.announcements))


def _plainly_announced(announcement: Announcement) -> Announcement:
    part = _plainest(announcement.sentence.parts[0])
    sentence = Sentence((part,))
    return Announcement(announcement.voice, sentence, fill(sentence, [Piece(part, {})]))


def _reworded(anatomy: Anatomy, change: Callable[[Piece], Piece]) -> Anatomy | None:
    lines = [
        msgspec.structs.replace(line, parts=tuple(map(change, line.parts))) for line in lines_of(anatomy)
    ]
    return close(anatomy, lines)


def _plainest(part: SubSentence) -> SubSentence:
    plainer = next(_plainer(part), None)
    return part if plainer is None else _plainest(plainer)


def _plainer(part: SubSentence) -> Iterator[SubSentence]:
    """The same in plainer forms, one changed at a time, the plainest first, as far as they are clear."""
    match part:
        case Clause() | Neighbours():
            for form in PLAINNESS[: stiffness(part)]:
                if isinstance(part, Clause) or form != "conjunction":
                    yield from _if_clear(msgspec.structs.replace(part, form=form))
        case Timed(form="fronted"):
            yield msgspec.structs.replace(part, form="verb")
    if isinstance(part, Clause):
        for path, group in groups_in(part):
            if isinstance(group.relative, Relative) and group.relative.form != "verb":
                relative = msgspec.structs.replace(group.relative, form="verb")
                yield regrouped(part, path, Group(group.actions, relative))


def _if_clear(part: SubSentence) -> Iterator[SubSentence]:
    if is_clear(part):
        yield part
