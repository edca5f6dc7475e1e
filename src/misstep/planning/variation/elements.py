"""Elements of a case that could be the cause of a failure, such as its size, and variants without them."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Literal, get_args

import msgspec

from misstep.core.constraint import Before, Constraint, family_of
from misstep.core.rng import Dice
from misstep.planning.language.clarity import joined
from misstep.planning.language.requests import load_requests, write_request, write_rules
from misstep.planning.language.semantics import Relation, mentioned, relations
from misstep.planning.language.syntax import Clause
from misstep.planning.plans.order import relations_of
from misstep.planning.synthesis.paragraphs import MOST_PARTS
from misstep.planning.variation import shapes
from misstep.planning.variation.anatomy import (
    Anatomy,
    Worded,
    WordedAnnouncement,
    assemble,
    demands_of,
    said_in,
    saying,
)
from misstep.planning.variation.lines import forget
from misstep.planning.variation.mutations import change_topic, rename, substitute_words
from misstep.planning.variation.phrasing import Choosing, NothingLeft, say
from misstep.planning.variation.positions import (
    mentions,
    misplaced,
    positions_of,
    sentences_at,
    without_positions,
)
from misstep.planning.variation.restructuring import restructure
from misstep.planning.variation.retelling import arranged, reshaped, without_families

FEWEST_ACTIONS = 2
FEWEST_CHARACTERS = 300  # in nearly every request
STEP = 100  # characters between two lengths that are distinguished
TRIES = 6

ACTIONS, SENTENCES, CHARACTERS = "actions", "sentences", "characters"


def extents_of(anatomy: Anatomy) -> Iterator[str]:
    """Every threshold that a request reaches, such as `5 actions or more`.

    Thresholds that every request reaches are left out.
    """
    ranges = {
        ACTIONS: range(FEWEST_ACTIONS + 1, len(anatomy.actions) + 1),
        SENTENCES: range(2, len(anatomy.paragraph) + 1),
        CHARACTERS: range(FEWEST_CHARACTERS, length_of(anatomy) + 1, STEP),
    }
    yield from (threshold(least, unit) for unit, reached in ranges.items() for least in reached)


def threshold(least: int, unit: str) -> str:
    return f"{least} {unit} or more"


def least_of(names: Collection[str], unit: str) -> int | None:
    """The lowest of the thresholds in a unit; None if there is none."""
    found = [int(name.split()[0]) for name in names if name.endswith(f" {unit} or more")]
    return min(found, default=None)


def length_of(anatomy: Anatomy) -> int:
    rules = write_rules(demands_of(anatomy), anatomy.world, len(anatomy.distractors), anatomy.has_own_tools)
    sentences = say(anatomy.paragraph, anatomy.names, anatomy.words)
    return len(write_request(anatomy.request, anatomy.topic, sentences, rules))


def smallest(anatomy: Anatomy) -> Anatomy:
    """A request that is about as small as this one can become."""
    dice = Dice(anatomy.seed)
    small = anatomy
    with suppress(NothingLeft):
        small = with_fewer_actions(anatomy, min(FEWEST_ACTIONS, len(anatomy.actions)), dice)
    templates = [msgspec.structs.replace(small, request=each) for each in load_requests().templates]
    return min(templates, key=length_of)


def with_fewer_actions(anatomy: Anatomy, most: int, dice: Dice) -> Anatomy:
    """The problem without some of its actions, but with constraints left; `NothingLeft` if impossible."""
    numbers = range(len(anatomy.actions))
    if most >= len(numbers):
        return anatomy
    for _ in range(TRIES):
        gone = {*dice.sample(numbers, len(numbers) - most)}
        smaller = forget(anatomy, gone)
        if smaller and len(smaller.actions) == most and demands_of(smaller):
            return smaller
    raise NothingLeft(f"no {most} of the actions make a problem of their own")


def with_fewer_sentences(anatomy: Anatomy, most: int, dice: Dice) -> Anatomy:
    """The same in fewer sentences, by joining some; if that is not enough, with fewer actions."""
    for small in _ever_smaller(anatomy, dice):
        said = said_in(small)
        while len(said) > most:
            pairs = [(*one.sentence.parts, *other.sentence.parts) for one, other in pairwise(said)]
            ways = [
                at
                for at, parts in enumerate(pairs)
                if len(parts) <= MOST_PARTS and all([isinstance(part, Clause) for part in parts])
            ]
            if not ways:
                break
            at = dice.pick(ways)
            one, other = said[at : at + 2]
            sentence, words = joined(pairs[at], dice), (*one.words, *other.words)
            said[at : at + 2] = [Worded(sentence, words, one.redundant and other.redundant)]
        if len(said) <= most:
            return saying(small, said)
    raise NothingLeft(f"it can't be said in {most} sentences")


def with_fewer_characters(anatomy: Anatomy, below: int, dice: Dice) -> Anatomy:
    """The same with a shorter request template; if that is not enough, with fewer actions."""
    templates = dice.shuffled([*load_requests().templates])
    for small in _ever_smaller(anatomy, dice):
        for template in templates:
            other = msgspec.structs.replace(small, request=template)
            if length_of(other) < below:
                return other
    raise NothingLeft(f"it can't be said in fewer than {below} characters")


def _ever_smaller(anatomy: Anatomy, dice: Dice) -> Iterator[Anatomy]:
    """The problem, then with fewer and fewer actions."""
    for most in range(len(anatomy.actions), FEWEST_ACTIONS - 1, -1):
        with suppress(NothingLeft):
            anatomy = with_fewer_actions(anatomy, most, dice)
            yield anatomy


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
    forms = {form for said in told for form in shapes.forms_of(said.sentence)}
    if _misplaced(anatomy):
        forms.add(shapes.READING_ORDER)
    own = anatomy.has_own_tools  # they have no other topic, and keep their names
    found: dict[Suspect, Iterable[str]] = {
        "topic": () if own else (anatomy.topic.name,),
        "terminal": phrases,
        "structure": forms,
        "constraint": _demands(anatomy),
        "name": () if own else anatomy.names,
        "position": positions_of(anatomy),
        "size": extents_of(anatomy),
    }
    return frozenset([Element(cause, name) for cause, names in found.items() for name in names])


def where(anatomy: Anatomy, element: Element) -> tuple[int, ...]:
    """The numbers of the sentences that contain an element; announcements have none."""
    match element.cause:
        case "terminal":
            found = [n for n, words in enumerate(anatomy.words) if element.name in [w.one for w in words]]
        case "structure" if element.name == shapes.READING_ORDER:
            found = [c.sentence for c in _misplaced(anatomy) if c.sentence is not None]
        case "structure":
            found = [n for n, said in enumerate(anatomy.paragraph) if element.name in shapes.forms_of(said)]
        case "constraint" if element.name in shapes.SHAPES:
            order = shapes.told_order(anatomy.paragraph, len(anatomy.actions))
            told = [shapes.making(element.name, order, relations(said)) for said in anatomy.paragraph]
            found = [n for n, pairs in enumerate(told) if pairs]
        case "constraint":
            found = [
                c.sentence
                for c in demands_of(anatomy)
                if family_of(c) == element.name and c.sentence is not None
            ]
        case "name":
            named = [[anatomy.names[a] for a in mentioned((said,))] for said in anatomy.paragraph]
            found = [n for n, names in enumerate(named) if element.name in names]
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
    if shapes.has_any(shapes.told_order(varied.paragraph, len(varied.actions)), demands):
        varied = reshaped(varied, demands, choosing)
    varied = saying(varied, restructure(said_in(varied), forms, choosing))
    varied = varied.announcing([_reformed(each, forms, choosing) for each in varied.announcements])
    if varied.topic.name in topics:
        varied = _found(change_topic(varied, dice, topics))
    varied = _found(rename(varied, names, dice)) if {*names} & {*varied.names} else varied
    varied = _found(substitute_words(varied, phrases, dice))
    if shapes.READING_ORDER in forms and _misplaced(varied):
        varied = saying(varied, arranged(said_in(varied), _pairs(varied), choosing))
    if most := least_of(extents, SENTENCES):
        varied = with_fewer_sentences(varied, most - 1, dice)
    varied = without_positions(varied, positions, choosing)
    if below := least_of(extents, CHARACTERS):
        varied = with_fewer_characters(varied, below, dice)
    return varied


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
    yield from shapes.shapes_of(shapes.told_order(anatomy.paragraph, len(anatomy.actions)))
    for constraint in demands_of(anatomy):
        family = family_of(constraint)
        if family not in (None, "order"):
            yield str(family)
    if anatomy.world.failures:
        yield "dynamic"
