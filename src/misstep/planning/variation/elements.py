"""The elements of a case that could be the cause of a failure, and variants without them."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Literal, get_args

import msgspec

from misstep.core.constraint import Before, Constraint, family_of
from misstep.core.rng import Dice
from misstep.planning.language.semantics import Relation, mentioned, relations
from misstep.planning.language.syntax import Sentence
from misstep.planning.plans.order import relations_of
from misstep.planning.variation.anatomy import (
    Anatomy,
    Worded,
    WordedAnnouncement,
    assemble,
    demands_of,
    said_in,
    saying,
)
from misstep.planning.variation.extent import (
    ACTIONS,
    CHARACTERS,
    SENTENCES,
    extents_of,
    least_of,
    with_fewer_actions,
    with_fewer_characters,
    with_fewer_sentences,
)
from misstep.planning.variation.mutations import change_topic, rename, substitute_words
from misstep.planning.variation.phrasing import Choosing, NothingLeft
from misstep.planning.variation.positions import (
    mentions,
    misplaced,
    positions_of,
    sentences_at,
    without_positions,
)
from misstep.planning.variation.restructuring import restructure
from misstep.planning.variation.retelling import arranged, reshaped, without_families
from misstep.planning.variation.shapes import (
    READING_ORDER,
    SHAPES,
    forms_of,
    has_any,
    making,
    shapes_of,
    told_order,
)

DRAFTS = 6  # from which the one that keeps most of the other elements is chosen
DRAFTED = ("structure", "constraint", "size")  # the kinds in which drafts differ


Suspect = Literal["terminal", "topic", "name", "structure", "position", "constraint", "size"]


class Element(msgspec.Struct, frozen=True):
    """A possible cause of a failure.

    A phrase in its singular, a topic, an activity, a form of sentences, a position in the request, a shape or
    family of constraints, or a size that is reached.
    """

    cause: Suspect
    name: str


def elements_of(anatomy: Anatomy) -> frozenset[Element]:
    """All elements of a case, including those of its announcements."""
    told = [*said_in(anatomy), *(Worded(each.sentence, each.words) for each in anatomy.announcements)]
    phrases = {word.one for said in told for word in said.words}
    forms = {form for said in told for form in forms_of(said.sentence)}
    if _misplaced(anatomy):
        forms.add(READING_ORDER)
    own = anatomy.has_own_tools  # they have no other topic, and keep their names
    topics, names = ((), ()) if own else ((anatomy.topic.name,), anatomy.names)
    return frozenset(
        [
            *(Element("topic", topic) for topic in topics),
            *(Element("terminal", phrase) for phrase in phrases),
            *(Element("structure", form) for form in forms),
            *(Element("constraint", name) for name in _demands(anatomy)),
            *(Element("name", name) for name in names),
            *(Element("position", position) for position in positions_of(anatomy)),
            *(Element("size", extent) for extent in extents_of(anatomy)),
        ]
    )


def where(anatomy: Anatomy, element: Element) -> tuple[int, ...]:
    """The numbers of the sentences that contain an element; announcements have none."""
    match element.cause:
        case "terminal":
            found = [n for n, words in enumerate(anatomy.words) if element.name in [w.one for w in words]]
        case "structure" if element.name == READING_ORDER:
            found = [c.sentence for c in _misplaced(anatomy) if c.sentence is not None]
        case "structure":
            found = [n for n, said in enumerate(anatomy.paragraph) if element.name in forms_of(said)]
        case "constraint" if element.name in SHAPES:
            found = _making(anatomy, element.name)
        case "constraint":
            found = [
                c.sentence
                for c in demands_of(anatomy)
                if family_of(c) == element.name and c.sentence is not None
            ]
        case "name":
            found = [n for n, said in enumerate(anatomy.paragraph) if _names(anatomy, said, element.name)]
        case "position":
            found = sentences_at(anatomy, element.name)
        case "size":
            found = []
        case "topic":
            found = [n for n, _ in enumerate(anatomy.paragraph) if element.name == anatomy.topic.name]
    return tuple(sorted({*found}))


def vary(anatomy: Anatomy, avoid: Collection[Element], dice: Dice) -> Anatomy | None:
    """A variant in which none of the elements in `avoid` occurs, otherwise changed as little as possible.

    It demands exactly the same, unless constraints or a number of actions are to be avoided: then families
    are left out, shapes are replaced by another order of about the same size and chance, and actions are
    dropped. None if that is impossible.
    """
    present = elements_of(anatomy)
    if present.isdisjoint(avoid):
        return anatomy
    found = list[tuple[int, Anatomy]]()
    for _ in range(DRAFTS if any([each.cause in DRAFTED for each in avoid]) else 1):
        with suppress(NothingLeft):
            variant = _varied(anatomy, avoid, dice)
            elements = elements_of(variant)
            if elements.isdisjoint(avoid):
                found.append((len(elements ^ present), variant))
    ranked = [variant for _, variant in sorted(found, key=lambda each: each[0])]
    return next((variant for variant in ranked if assemble(variant) is not None), None)


def _varied(anatomy: Anatomy, avoid: Collection[Element], dice: Dice) -> Anatomy:
    """A variant that may still have some of the elements; `NothingLeft` if there is none."""
    phrases, topics, names, forms, positions, demands, extents = (
        {each.name for each in avoid if each.cause == cause} for cause in get_args(Suspect)
    )
    choosing = Choosing(phrases, dice, [word for words in anatomy.words for word in words])
    varied = anatomy
    if most := least_of(extents, ACTIONS):
        varied = with_fewer_actions(varied, most - 1, dice)
    varied = without_families(varied, demands, choosing)
    if has_any(told_order(varied.paragraph, len(varied.actions)), demands):
        varied = reshaped(varied, demands, choosing)
    varied = saying(varied, restructure(said_in(varied), forms, choosing))
    varied = varied.announcing([_reformed(each, forms, choosing) for each in varied.announcements])
    if varied.topic.name in topics:
        varied = _found(change_topic(varied, dice, topics))
    varied = _found(rename(varied, names, dice)) if {*names} & {*varied.names} else varied
    varied = _found(substitute_words(varied, phrases, dice))
    if READING_ORDER in forms and _misplaced(varied):
        varied = saying(varied, arranged(said_in(varied), _pairs(varied), choosing))
    if most := least_of(extents, SENTENCES):
        varied = with_fewer_sentences(varied, most - 1, dice)
    varied = without_positions(varied, positions, choosing)
    if below := least_of(extents, CHARACTERS):
        varied = with_fewer_characters(varied, below, dice)
    return varied


def _names(anatomy: Anatomy, sentence: Sentence, name: str) -> bool:
    return any([anatomy.names[action] == name for action in mentioned((sentence,))])


def _found(varied: Anatomy | None) -> Anatomy:
    if varied is None:
        raise NothingLeft("there is no other topic, or no other phrase")
    return varied


def _reformed(
    announcement: WordedAnnouncement, forms: Collection[str], choosing: Choosing
) -> WordedAnnouncement:
    said = restructure([Worded(announcement.sentence, announcement.words)], forms, choosing)
    if len(said) > 1:
        raise NothingLeft("a result announces no more than one sentence")
    return WordedAnnouncement(announcement.voice, said[0].sentence, said[0].words)


def _pairs(anatomy: Anatomy) -> list[Relation]:
    ids = anatomy.ids
    told = [c for c in demands_of(anatomy) if not (isinstance(c, Before) and c.announced)]
    pairs = [pair for demand in told for pair in relations_of(demand)]
    return [(ids.index(first), ids.index(then)) for first, then in pairs]


def _misplaced(anatomy: Anatomy) -> list[Constraint]:
    said = zip(anatomy.paragraph, anatomy.words, strict=True)
    order = dict.fromkeys([action for sentence, words in said for action in mentions(sentence, words)])
    return misplaced(demands_of(anatomy), anatomy.ids, list(order))


def _demands(anatomy: Anatomy) -> Iterator[str]:
    yield from shapes_of(told_order(anatomy.paragraph, len(anatomy.actions)))
    for constraint in demands_of(anatomy):
        family = family_of(constraint)
        if family not in (None, "order"):
            yield str(family)
    if anatomy.world.failures:
        yield "dynamic"


def _making(anatomy: Anatomy, shape: str) -> list[int]:
    order = told_order(anatomy.paragraph, len(anatomy.actions))
    return [
        number
        for number, sentence in enumerate(anatomy.paragraph)
        if making(shape, order, relations(sentence))
    ]
