"""Splits a case into lines for editing, and closes it again consistently.

Closing renumbers the remaining actions everywhere, removes what the world holds for others, and keeps a
budget as tight as before.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import msgspec

from misstep.core.case import Action, World
from misstep.core.constraint import Before
from misstep.planning.language.clarity import rejoined
from misstep.planning.language.semantics import relations
from misstep.planning.language.syntax import (
    BudgetRemark,
    Clause,
    Free,
    Giving,
    Join,
    Paragraph,
    Sentence,
    actions_in,
    renumbered,
)
from misstep.planning.plans.search import least_cost
from misstep.planning.synthesis.plot import IDS
from misstep.planning.variation.anatomy import Anatomy, demands_of, fitting_world, spoken_of
from misstep.planning.variation.pieces import Piece, attribute, fill, untangled, without
from misstep.planning.variation.shapes import told_order


def remaining_world(world: World, ids: Mapping[str, str]) -> World:
    """The world without the data of removed actions; `ids` maps the remaining ones to their new ids."""
    parts: dict[str, dict[str, Any]] = {
        field: {ids[action]: held for action, held in getattr(world, field).items() if action in ids}
        for field in ("durations", "values", "findings", "costs", "failures", "announcements")
    }
    retries = world.retries if parts["failures"] else 0
    broken = tuple([ids[action] for action in world.broken if action in ids])
    return msgspec.structs.replace(world, **parts, retries=retries, broken=broken)


def as_tight(smaller: Anatomy, before: Anatomy) -> Anatomy:
    """The smaller problem, with the same slack in its budget for the cheapest plan as before."""
    paragraph = list(smaller.paragraph)
    budgets = [number for number, said in enumerate(paragraph) if isinstance(said.parts[0], BudgetRemark)]
    was, now = [
        least_cost([action.id for action in each.actions], demands_of(each), each.world) if budgets else None
        for each in (before, smaller)
    ]
    if was is None or now is None:
        return smaller
    for number in budgets:
        (budget,) = paragraph[number].parts
        assert isinstance(budget, BudgetRemark)
        paragraph[number] = Sentence((BudgetRemark(budget.most - (was - now)),))
    return msgspec.structs.replace(smaller, paragraph=tuple(paragraph))


class EditedSentence(msgspec.Struct, frozen=True):
    """A sentence, part by part; `redundant` if it deliberately repeats something."""

    parts: tuple[Piece, ...]
    joins: tuple[Join, ...] = ()
    redundant: bool = False

    @property
    def sentence(self) -> Sentence:
        return Sentence(tuple([said.part for said in self.parts]), self.joins)

    @property
    def gives(self) -> bool:
        """Whether it gives the arguments of a tool, which does not make the action due."""
        return isinstance(self.parts[0].part, Giving)

    @property
    def actions(self) -> set[int]:
        return {action for said in self.parts for action in actions_in(said.part)}

    def renumbered(self, numbers: Mapping[int, int]) -> "EditedSentence":
        parts = tuple([Piece(renumbered(said.part, numbers), said.words) for said in self.parts])
        sentence = rejoined([said.part for said in parts], self.joins)
        return EditedSentence(parts, sentence.joins, self.redundant)


def lines_of(anatomy: Anatomy) -> list[EditedSentence]:
    return [
        EditedSentence(attribute(sentence, words), sentence.joins, number in anatomy.redundant)
        for number, (sentence, words) in enumerate(zip(anatomy.paragraph, anatomy.words, strict=True))
    ]


def spoken(anatomy: Anatomy) -> Iterator[tuple[int, int, Piece]]:
    """Every sub-sentence, with the number of its sentence and its position there."""
    for number, line in enumerate(lines_of(anatomy)):
        for place, said in enumerate(line.parts):
            yield number, place, said


def rewrite(anatomy: Anatomy, number: int, place: int, said: Sequence[Piece]) -> Anatomy | None:
    """The case with one sub-sentence replaced; what does not fit in its sentence follows it."""
    lines = lines_of(anatomy)
    line = lines[number]
    pieces: list[Sequence[Piece]] = [(part,) for part in line.parts]
    pieces[place] = said
    return close(anatomy, [*lines[:number], *recast(line, pieces), *lines[number + 1 :]])


def recast(line: EditedSentence, pieces: Sequence[Sequence[Piece]]) -> list[EditedSentence]:
    """The line with its parts replaced; the first piece of each stays joined, unless it is a remark."""
    joined = [place for place, said in enumerate(pieces) if said and isinstance(said[0].part, Clause | Free)]
    parts = tuple([pieces[place][0] for place in joined])
    joins = tuple([line.joins[place - 1] for place in joined[1:]])
    own = [said for place, several in enumerate(pieces) for said in several[place in joined :]]
    first = [EditedSentence(parts, joins, line.redundant)] if parts else []
    return [*first, *[EditedSentence((said,), redundant=line.redundant) for said in own]]


def close(anatomy: Anatomy, lines: Iterable[EditedSentence]) -> Anatomy | None:
    """The case with these lines; None if they mention nothing.

    Actions that are no longer due are removed, with their arguments and their part of the world.
    """
    clear = [each for line in lines for each in recast(line, [untangled(said) for said in line.parts])]
    due = spoken_of(tuple([line.sentence for line in clear]))
    if not due:
        return None
    left = sorted(due)
    numbers = {old: new for new, old in enumerate(left)}
    kept = [line.renumbered(numbers) for line in clear if line.actions <= due]
    ids = {anatomy.actions[old].id: IDS[new] for old, new in numbers.items()}
    ids |= {action.id: f"d{number}" for number, action in enumerate(anatomy.distractors, 1)}

    def called(action: Action) -> Action:
        return msgspec.structs.replace(action, id=ids[action.id])

    paragraph = tuple([line.sentence for line in kept])
    smaller = msgspec.structs.replace(
        anatomy,
        actions=tuple([called(anatomy.actions[old]) for old in left]),
        distractors=tuple(map(called, anatomy.distractors)),
        paragraph=paragraph,
        words=tuple([fill(line.sentence, line.parts) for line in kept]),
        announced=_still_announced(anatomy.announced, ids),
        redundant=tuple([i for i, line in enumerate(kept) if line.redundant and _repeats(paragraph, i)]),
    )
    world = fitting_world(remaining_world(anatomy.world, ids), demands_of(smaller))
    return as_tight(msgspec.structs.replace(smaller, world=world), anatomy)


def forget(anatomy: Anatomy, gone: Set[int]) -> Anatomy | None:
    """The problem without some actions: what can't be said without them is removed."""
    left = [recast(line, [without(said, gone) for said in line.parts]) for line in lines_of(anatomy)]
    return close(anatomy, [line for lines in left for line in lines])


def _still_announced(announced: Sequence[Before], ids: Mapping[str, str]) -> tuple[Before, ...]:
    """Announcements of remaining actions, if everything they mention remains."""
    cut = {c.announced for c in announced if not {c.first, c.then, c.announced} <= ids.keys()}
    return tuple(
        [
            Before(ids[c.first], ids[c.then], c.sentence, ids[c.announced])
            for c in announced
            if c.announced not in cut
        ]
    )


def _repeats(paragraph: Paragraph, number: int) -> bool:
    """Whether the order that a sentence states follows from the others."""
    order = told_order([*paragraph[:number], *paragraph[number + 1 :]], len(IDS))
    return all([order.implies(first, then) for first, then in relations(paragraph[number])])
