"""A variant lacks what must be avoided, and is otherwise as much like the case as can be."""

import msgspec
import pytest

from misstep.core.case import Case, families_of
from misstep.core.constraint import FAMILIES, Before
from misstep.core.rng import Dice
from misstep.planning.language.lexicon import load_topics
from misstep.planning.plans.order import order_of
from misstep.planning.simulated.planners import FORMS
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.variation.anatomy import Anatomy, assemble, slots, take_apart
from misstep.planning.variation.elements import Element, elements_of, vary
from misstep.planning.variation.positions import TOOL_LIST
from tests.planning.variation.kinds import every_kind
from tests.planning.variation.meaning import (
    assert_equivalent,
    assert_perfect_passes,
    assert_text_says_constraints,
    heard,
    readings,
)
from tests.planning.variation.test_elements import breaks_reading_order, passes_as_read
from tests.quality.test_planted_faults import occurs


def plain_cases(count: int, low: int = 3, high: int = 6, seed: int = 31) -> list[Case]:
    return [make_case(Suite(seed, low, high), index) for index in range(count)]


def sorted_elements(anatomy: Anatomy) -> list[Element]:
    return sorted(elements_of(anatomy), key=lambda element: (element.cause, element.name))


def whole(anatomy: Anatomy) -> Case:
    case = assemble(anatomy)
    assert case is not None
    assert take_apart(case) == anatomy
    return case


def assert_absent(element: Element, case: Case) -> None:
    """As the reader and the definitions see it, not only as elements are found."""
    match element.cause:
        case "topic":
            activities = load_topics()[element.name].activities
            assert case.topic != element.name
            assert not [action for action in case.actions if action.name in activities]
        case "terminal":
            assert element.name not in {relation.phrase for relation in heard(case)}
            assert element.name not in {phrase for reading in readings(case) for phrase in reading.phrases}
        case "structure" if element.name in FORMS:
            assert element.name not in {relation.form for relation in heard(case)}
        case "structure" if element.name == "reading order":
            assert not breaks_reading_order(case)
        case "structure" if element.name == "list":
            assert "+" not in case.skeleton
        case "structure" if element.name == "joined sentence":
            assert all(len(sentence.parts) == 1 for sentence in take_apart(case).paragraph)
        case "constraint" if element.name in FAMILIES:
            assert element.name not in families_of(case)
        case "constraint":
            said = [c for c in case.constraints if isinstance(c, Before) and not c.announced]
            assert not occurs(element.name, msgspec.structs.replace(case, constraints=tuple(said)))
    assert element not in elements_of(take_apart(case))


def comparable(anatomy: Anatomy) -> set[Element]:
    """Elements that need not change with others: other jobs have other activities, other words other lengths."""
    return {each for each in elements_of(anatomy) if each.cause not in ("name", "size")}


def closure(case: Case) -> list[int]:
    pairs = [(c.first, c.then) for c in case.constraints if isinstance(c, Before) and not c.announced]
    return order_of([action.id for action in case.actions], pairs).after


@pytest.mark.full(after=1)
@pytest.mark.parametrize("cause", ["terminal", "topic", "structure"])
def test_one_element_less_and_the_same_demands(cause: str) -> None:
    kept = lost = new = 0
    for number, case in enumerate(plain_cases(20)):
        anatomy = take_apart(case)
        present = comparable(anatomy)
        for element in [element for element in sorted_elements(anatomy) if element.cause == cause]:
            variant = vary(anatomy, [element], Dice(number))
            assert variant is not None, element
            changed = whole(variant)
            assert_absent(element, changed)
            assert_text_says_constraints(changed)
            assert_perfect_passes(changed)
            assert closure(changed) == closure(case)
            assert (changed.witness, changed.chance, changed.world) == (case.witness, case.chance, case.world)
            others = comparable(variant)
            kept += len(others & present)
            lost += len(present - others) - 1
            new += len(others - present)
    assert lost < 0.05 * kept
    assert new < 0.12 * kept


@pytest.mark.full
def test_words_and_topics_change_nothing_else() -> None:
    for number, case in enumerate(plain_cases(15, seed=32)):
        anatomy = take_apart(case)
        for element in sorted_elements(anatomy):
            variant = vary(anatomy, [element], Dice(number))
            assert variant is not None
            if element.cause == "terminal":
                assert msgspec.structs.replace(variant, words=anatomy.words) == anatomy
            elif element.cause == "topic":
                same = (variant.paragraph, variant.words) == (anatomy.paragraph, anatomy.words)
                assert same
            elif element.cause == "structure":
                assert (variant.topic, variant.actions) == (anatomy.topic, anatomy.actions)


def test_sentences_without_the_form_stay_as_they_are() -> None:
    for number, case in enumerate(plain_cases(20, seed=33)):
        anatomy = take_apart(case)
        for form in FORMS:
            variant = vary(anatomy, [Element("structure", form)], Dice(number))
            assert variant is not None
            changed = whole(variant)
            for sentence, reading in zip(case.sentences, readings(case), strict=True):
                if form not in [relation.form for relation in reading.relations]:
                    assert sentence in changed.sentences


def test_nothing_to_avoid_is_nothing_to_change() -> None:
    for case in every_kind(1):
        anatomy = take_apart(case)
        assert vary(anatomy, [], Dice(0)) == anatomy
        assert vary(anatomy, [Element("structure", "no such form")], Dice(0)) == anatomy


@pytest.mark.full
def test_several_at_once() -> None:
    made = 0
    for number, case in enumerate(plain_cases(25, seed=34)):
        anatomy = take_apart(case)
        dice = Dice(number)
        elements = [each for each in comparable(anatomy) if each.cause != "constraint"]
        elements = sorted({*elements} - {Element("position", TOOL_LIST)}, key=str)
        for size in (2, 5, len(elements) // 2):
            avoid = dice.sample(elements, min(size, len(elements)))
            variant = vary(anatomy, avoid, dice)
            if variant is None:
                continue
            made += 1
            changed = whole(variant)
            for element in avoid:
                assert_absent(element, changed)
            assert_text_says_constraints(changed)
            assert_perfect_passes(changed)
            assert closure(changed) == closure(case)
    assert made > 65


def test_all_forms_but_one() -> None:
    for number, case in enumerate(plain_cases(12, seed=35)):
        anatomy = take_apart(case)
        for left in FORMS[:5]:
            avoid = [Element("structure", form) for form in FORMS if form != left]
            variant = vary(anatomy, avoid, Dice(number))
            assert variant is not None
            changed = whole(variant)
            assert {relation.form for relation in heard(changed)} == {left}
            assert_text_says_constraints(changed)
            assert closure(changed) == closure(case)


def test_what_can_t_be_avoided_has_no_variant() -> None:
    anatomy = take_apart(make_case(Suite(0, 4, 4), 1))
    assert vary(anatomy, [Element("structure", form) for form in FORMS], Dice(0)) is None
    assert vary(anatomy, [Element("topic", topic) for topic in load_topics()], Dice(0)) is None
    used = {word.one for words in anatomy.words for word in words}
    options = {option.one for found in slots(anatomy) for slot in found for option in slot.options}
    assert vary(anatomy, [Element("terminal", phrase) for phrase in options], Dice(0)) is None
    assert vary(anatomy, [Element("terminal", phrase) for phrase in used], Dice(0)) is not None


# Reading order


def test_to_do_as_one_reads_becomes_right() -> None:
    wrong = 0
    for number, case in enumerate(plain_cases(60, 3, 8, seed=36)):
        variant = vary(take_apart(case), [Element("structure", "reading order")], Dice(number))
        assert variant is not None
        changed = whole(variant)
        assert passes_as_read(changed)
        assert closure(changed) == closure(case)
        assert_text_says_constraints(changed)
        wrong += not passes_as_read(case)
    assert wrong > 30


def test_z3_proves_that_variants_are_equivalent() -> None:
    for number, case in enumerate(every_kind(1, seed=6)):
        anatomy = take_apart(case)
        for element in sorted_elements(anatomy):
            if element.cause == "structure":
                variant = vary(anatomy, [element], Dice(number))
                if variant is not None:
                    assert_equivalent(case, whole(variant))


def test_same_dice_same_variant() -> None:
    for case in every_kind(1, seed=8):
        anatomy = take_apart(case)
        for element in sorted_elements(anatomy)[:4]:
            assert vary(anatomy, [element], Dice(3)) == vary(anatomy, [element], Dice(3))
