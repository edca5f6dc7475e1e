"""A case taken apart, opened for cuts and closed again with everything in order that they leave behind."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

import msgspec

from misstep.core.case import Action
from misstep.core.constraint import Before
from misstep.planning.language.clarity import rejoined
from misstep.planning.language.remarks import Giving
from misstep.planning.language.semantics import relations
from misstep.planning.language.syntax import Clause, Free, Join, Paragraph, Sentence
from misstep.planning.synthesis.plot import IDS
from misstep.planning.variation.anatomy import Anatomy, demands_of, spoken_of
from misstep.planning.variation.editing.belongings import belongings
from misstep.planning.variation.editing.budgets import as_tight
from misstep.planning.variation.editing.cutting import actions_in, without
from misstep.planning.variation.editing.hoisting import untangled
from misstep.planning.variation.editing.numbering import renumbered
from misstep.planning.variation.editing.paths import Piece, attribute, fill
from misstep.planning.variation.shapes import told_order
from misstep.planning.variation.worlds import fitting_world


class Line(msgspec.Struct, frozen=True):
    """A sentence, part by part; `redundant` tells that it is meant to repeat something."""

    parts: tuple[Piece, ...]
    joins: tuple[Join, ...] = ()
    redundant: bool = False

    @property
    def sentence(self) -> Sentence:
        return Sentence(tuple([said.part for said in self.parts]), self.joins)

    @property
    def gives(self) -> bool:
        """Whether it is about the arguments of a tool, which does not make the action due."""
        return isinstance(self.parts[0].part, Giving)


def lines_of(anatomy: Anatomy) -> list[Line]:
    return [
        Line(attribute(sentence, words), sentence.joins, number in anatomy.redundant)
        for number, (sentence, words) in enumerate(zip(anatomy.paragraph, anatomy.words, strict=True))
    ]


def spoken(anatomy: Anatomy) -> Iterator[tuple[int, int, Piece]]:
    """Every sub-sentence, with the number of its sentence and its place there."""
    for number, line in enumerate(lines_of(anatomy)):
        for place, said in enumerate(line.parts):
            yield number, place, said


def rewrite(anatomy: Anatomy, number: int, place: int, said: Sequence[Piece]) -> Anatomy | None:
    """The case with something else in the place of one sub-sentence; what finds no room there follows it."""
    lines = lines_of(anatomy)
    line = lines[number]
    pieces: list[Sequence[Piece]] = [(part,) for part in line.parts]
    pieces[place] = said
    return close(anatomy, [*lines[:number], *recast(line, pieces), *lines[number + 1 :]])


def recast(line: Line, pieces: Sequence[Sequence[Piece]]) -> list[Line]:
    """The line with other pieces in the place of its parts; one of each stays joined, if it is no remark."""
    joined = [place for place, said in enumerate(pieces) if said and isinstance(said[0].part, Clause | Free)]
    parts = tuple([pieces[place][0] for place in joined])
    joins = tuple([line.joins[place - 1] for place in joined[1:]])
    own = [said for place, several in enumerate(pieces) for said in several[place in joined :]]
    first = [Line(parts, joins, line.redundant)] if parts else []
    return [*first, *[Line((said,), redundant=line.redundant) for said in own]]


def close(anatomy: Anatomy, lines: Iterable[Line]) -> Anatomy | None:
    """The case with these lines; None where they speak of nothing.

    Actions that nothing makes due any more are gone, with what was said of their arguments and what the world
    held for them alone.
    """
    clear = [each for line in lines for each in recast(line, [untangled(said) for said in line.parts])]
    due = spoken_of(tuple([line.sentence for line in clear]))
    if not due:
        return None
    left = sorted(due)
    numbers = {old: new for new, old in enumerate(left)}
    kept = [_renumber(line, numbers) for line in clear if actions_in_line(line) <= due]
    ids = {anatomy.actions[old].id: IDS[new] for old, new in numbers.items()}
    ids |= {action.id: f"d{number}" for number, action in enumerate(anatomy.distractors, 1)}
    paragraph = tuple([line.sentence for line in kept])
    smaller = msgspec.structs.replace(
        anatomy,
        actions=tuple([_called(anatomy.actions[old], ids) for old in left]),
        distractors=tuple([_called(action, ids) for action in anatomy.distractors]),
        paragraph=paragraph,
        words=tuple([fill(line.sentence, line.parts) for line in kept]),
        announced=_still_announced(anatomy.announced, ids),
        redundant=tuple([i for i, line in enumerate(kept) if line.redundant and _repeats(paragraph, i)]),
    )
    world = fitting_world(belongings(anatomy.world, ids), demands_of(smaller))
    return as_tight(msgspec.structs.replace(smaller, world=world), anatomy)


def forget(anatomy: Anatomy, gone: Set[int]) -> Anatomy | None:
    """The problem without some actions: what can't be said without them is not said."""
    left = [recast(line, [without(said, gone) for said in line.parts]) for line in lines_of(anatomy)]
    return close(anatomy, [line for lines in left for line in lines])


def actions_in_line(line: Line) -> set[int]:
    return {action for said in line.parts for action in actions_in(said.part)}


def _renumber(line: Line, numbers: Mapping[int, int]) -> Line:
    parts = tuple([Piece(renumbered(said.part, numbers), said.words) for said in line.parts])
    sentence = rejoined([said.part for said in parts], line.joins)
    return Line(parts, sentence.joins, line.redundant)


def _called(action: Action, ids: Mapping[str, str]) -> Action:
    return msgspec.structs.replace(action, id=ids[action.id])


def _still_announced(announced: Sequence[Before], ids: Mapping[str, str]) -> tuple[Before, ...]:
    """What is announced by actions that are left, if all that it speaks of is left."""
    cut = {c.announced for c in announced if not {c.first, c.then, c.announced} <= ids.keys()}
    return tuple(
        [
            Before(ids[c.first], ids[c.then], c.sentence, ids[c.announced])
            for c in announced
            if c.announced not in cut
        ]
    )


def _repeats(paragraph: Paragraph, number: int) -> bool:
    """Whether what a sentence says of the order follows from the others."""
    order = told_order([*paragraph[:number], *paragraph[number + 1 :]], len(IDS))
    return all([order.implies(first, then) for first, then in relations(paragraph[number])])
