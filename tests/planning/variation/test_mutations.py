"""Each mutation keeps what a case demands, and changes only what it says."""

import msgspec
import pytest

from misstep.core.case import Case
from misstep.core.constraint import Adjacent, Before, Family, Window
from misstep.core.rng import Dice
from misstep.planning.language.lexicon import load_topics
from misstep.planning.language.rendering import fresh_phrases
from misstep.planning.language.syntax import Alternative, Clause, Group, Sentence
from misstep.planning.plans.order import order_of
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.variation.anatomy import Anatomy, assemble, slots, take_apart
from misstep.planning.variation.mutations import change_topic, rephrase, substitute_words
from misstep.planning.variation.phrasing import draw_words
from tests.planning.variation.kinds import MIXTURES, every_kind, mixed, own
from tests.planning.variation.meaning import (
    assert_equivalent,
    assert_perfect_passes,
    assert_text_says_constraints,
    heard,
)


def whole(anatomy: Anatomy | None) -> Case:
    assert anatomy is not None
    case = assemble(anatomy)
    assert case is not None
    assert take_apart(case) == anatomy
    return case


def assert_sound(case: Case) -> None:
    assert_text_says_constraints(case)
    assert_perfect_passes(case)


# Words


def phrases_in(anatomy: Anatomy) -> list[str]:
    told = [*anatomy.words, *(each.words for each in anatomy.announcements)]
    return sorted({word.one for words in told for word in words})


@pytest.mark.full
def test_only_the_avoided_phrases_differ() -> None:
    for number, case in enumerate(every_kind(6)):
        dice = Dice(number)
        anatomy = take_apart(case)
        phrases = phrases_in(anatomy)
        avoid = dice.sample(phrases, min(len(phrases), 1 + dice.below(4)))
        variant = substitute_words(anatomy, avoid, dice)
        changed = whole(variant)
        assert variant is not None
        for found, others in zip(slots(anatomy), slots(variant), strict=True):
            for slot, other in zip(found, others, strict=True):
                assert slot.options == other.options
                assert (slot.word == other.word) == (slot.word.one not in avoid)
                assert other.word.one not in avoid
        assert changed.constraints == case.constraints
        same = ("seed", "topic", "actions", "distractors", "skeleton", "witness", "chance", "redundant")
        for part in (*same, "solution"):
            assert getattr(changed, part) == getattr(case, part)
        assert_sound(changed)


def test_the_text_is_otherwise_the_same() -> None:
    """With the new phrases turned back into the old ones, the text is what it was."""
    for index in range(200):
        case = make_case(Suite(8, 2, 6), index)
        anatomy = take_apart(case)
        dice = Dice(index)
        avoid = dice.pick(phrases_in(anatomy))
        variant = substitute_words(anatomy, [avoid], dice)
        changed = whole(variant)
        assert variant is not None
        spared = [n for n, words in enumerate(anatomy.words) if avoid not in [word.one for word in words]]
        assert [changed.sentences[n] for n in spared] == [case.sentences[n] for n in spared]
        around = case.query.split(" ".join(case.sentences))
        assert changed.query.split(" ".join(changed.sentences)) == around
        assert avoid not in {relation.phrase for relation in heard(changed)}
        back = msgspec.structs.replace(variant, words=anatomy.words)
        assert back == anatomy


def test_a_phrase_goes_by_its_plural_too() -> None:
    found = 0
    for index in range(100):
        anatomy = take_apart(make_case(Suite(9, 3, 6), index))
        for many in {word.many for words in anatomy.words for word in words if word.many != word.one}:
            variant = substitute_words(anatomy, [many], Dice(0))
            assert variant is not None
            assert many not in {word.many for words in variant.words for word in words}
            found += 1
    assert found > 50


@pytest.mark.full
def test_announcements_are_reworded_too() -> None:
    reworded = 0
    for case in (*mixed(("order", "dynamic"), 60), *mixed(("dynamic",), 15)):
        anatomy = take_apart(case)
        for each in anatomy.announcements:
            avoid = each.words[0].one
            variant = substitute_words(anatomy, [avoid], Dice(1))
            changed = whole(variant)
            assert changed.world.announcements.keys() == case.world.announcements.keys()
            assert changed.world.announcements[each.voice] != case.world.announcements[each.voice]
            assert_text_says_constraints(changed)
            reworded += 1
    assert reworded > 40


def test_a_slot_without_another_phrase_makes_no_variant() -> None:
    anatomy = take_apart(make_case(Suite(1, 3, 3), 0))
    options = slots(anatomy)[0][0].options
    assert substitute_words(anatomy, [option.one for option in options], Dice(0)) is None
    assert substitute_words(anatomy, [], Dice(0)) == anatomy
    assert substitute_words(anatomy, ["no such phrase"], Dice(0)) == anatomy


# Topics


@pytest.mark.full
def test_another_topic_leaves_nothing_of_the_old_one() -> None:
    for number, case in enumerate(every_kind(8, seed=1)):
        if case.actions[0].parameters is not None:
            continue
        anatomy = take_apart(case)
        variant = change_topic(anatomy, Dice(number))
        changed = whole(variant)
        assert variant is not None
        assert changed.topic != case.topic
        activities = load_topics()[changed.topic].activities
        text = msgspec.json.encode(changed).decode().lower()
        for old, new in zip(
            (*case.actions, *case.distractors), (*changed.actions, *changed.distractors), strict=True
        ):
            assert old.name.lower() not in text
            assert old.tool.lower() not in text
            assert new.name in activities
            assert (new.id, bool(new.description)) == (old.id, bool(old.description))
        assert (variant.paragraph, variant.words) == (anatomy.paragraph, anatomy.words)
        for part in ("seed", "constraints", "skeleton", "witness", "chance", "redundant"):
            assert getattr(changed, part) == getattr(case, part)
        assert msgspec.structs.replace(changed.world, announcements=case.world.announcements) == case.world
        assert len(changed.solution) == len(case.solution)
        assert_sound(changed)


def test_the_new_topic_is_in_the_request() -> None:
    anatomy = take_apart(make_case(Suite(0, 3, 3, topics=("baker",), request="memo"), 0))
    changed = whole(change_topic(anatomy, Dice(0)))
    assert f"To: the {changed.topic}" in changed.query
    assert "baker" not in changed.query


def test_topics_to_be_avoided_are() -> None:
    anatomy = take_apart(make_case(Suite(0, 3, 3, topics=("baker",)), 0))
    topics = [name for name in load_topics() if name != "baker"]
    for left in topics[:5]:
        variant = change_topic(anatomy, Dice(0), [name for name in topics if name != left])
        assert variant is not None
        assert variant.topic.name == left
    assert change_topic(anatomy, Dice(0), topics) is None


def test_tools_of_the_users_own_have_no_other_topic() -> None:
    for case in own(2):
        assert change_topic(take_apart(case), Dice(0)) is None


# Sentences


def closure(case: Case) -> list[int]:
    pairs = [(c.first, c.then) for c in case.constraints if isinstance(c, Before) and not c.announced]
    return order_of([action.id for action in case.actions], pairs).after


def assert_rephrased(case: Case, changed: Case) -> None:
    for part in ("seed", "topic", "actions", "distractors", "world"):
        assert getattr(changed, part) == getattr(case, part)
    assert changed.chance == pytest.approx(case.chance)
    assert_sound(changed)
    assert_equivalent(case, changed)


def test_an_order_comes_to_the_same_closure() -> None:
    kept = 0
    for index in range(150):
        case = make_case(Suite(12, 2, 8), index)
        changed = whole(rephrase(take_apart(case), Dice(index)))
        assert closure(changed) == closure(case)
        assert changed.redundant == ()
        for part in ("seed", "topic", "actions", "distractors", "world", "chance", "witness"):
            assert getattr(changed, part) == getattr(case, part)
        assert_sound(changed)
        kept += changed.skeleton == case.skeleton
    assert kept == 0


def test_z3_proves_that_orders_are_equivalent() -> None:
    for index in range(60):
        case = make_case(Suite(13, 2, 6), index)
        assert_rephrased(case, whole(rephrase(take_apart(case), Dice(index))))


def test_free_actions_stay_free() -> None:
    suite = Suite(3, 2, 4, exhaustive=True)
    for index in range(suite.orders()):
        case = make_case(suite, index)
        changed = whole(rephrase(take_apart(case), Dice(index)))
        assert closure(changed) == closure(case)
        assert_sound(changed)


@pytest.mark.full(after=3)
@pytest.mark.parametrize("families", MIXTURES[1:], ids=",".join)
def test_z3_proves_that_problems_are_equivalent(families: tuple[Family, ...]) -> None:
    for index, case in enumerate(mixed(families, 10, seed=2)):
        assert_rephrased(case, whole(rephrase(take_apart(case), Dice(index))))


def test_an_order_on_optional_actions_says_no_more_than_before() -> None:
    """What leads from one action to another only over one that may be left out does not have to hold."""
    careful = 0
    for index, case in enumerate(mixed(("order", "choice"), 40, seed=3)):
        changed = whole(rephrase(take_apart(case), Dice(index)))
        assert_rephrased(case, changed)
        said = {(c.first, c.then) for c in changed.constraints if isinstance(c, Before)}
        old = {(c.first, c.then) for c in case.constraints if isinstance(c, Before)}
        careful += said == old and closure(case) != closure_of_nothing(case, old)
    assert careful > 3


def closure_of_nothing(case: Case, pairs: set[tuple[str, str]]) -> list[int]:
    """The relations as they are said, with nothing that follows from them."""
    ids = [action.id for action in case.actions]
    return [sum(1 << ids.index(then) for first, then in pairs if first == action) for action in ids]


def test_times_and_neighbours_are_said_in_another_form() -> None:
    windows = neighbours = 0
    for index, case in enumerate(mixed(("order", "time", "adjacent"), 40, seed=4)):
        anatomy = take_apart(case)
        changed = whole(rephrase(anatomy, Dice(index)))
        for kind in (Window, Adjacent):
            for said in [c for c in case.constraints if isinstance(c, kind)]:
                (other,) = [
                    c
                    for c in changed.constraints
                    if msgspec.structs.replace(c, sentence=said.sentence) == said
                ]
                assert said.sentence is not None
                assert other.sentence is not None
                was = case.skeleton.split(". ")[said.sentence].rstrip(".")
                now = changed.skeleton.split(". ")[other.sentence].rstrip(".")
                windows += kind is Window and was != now
                neighbours += kind is Adjacent
                assert kind is Window or was != now
    assert windows > 30
    assert neighbours > 10


def test_same_dice_same_variant() -> None:
    for case in every_kind(2, seed=5):
        anatomy = take_apart(case)
        phrase = phrases_in(anatomy)[0]
        for _ in range(2):
            assert rephrase(anatomy, Dice(4)) == rephrase(anatomy, Dice(4))
            assert change_topic(anatomy, Dice(4)) == change_topic(anatomy, Dice(4))
            assert substitute_words(anatomy, [phrase], Dice(4)) == substitute_words(
                anatomy, [phrase], Dice(4)
            )


def test_what_contradicts_itself_between_two_of_which_one_is_due_is_told_again() -> None:
    """Each way round is said of an action that is left out in half of all plans."""
    anatomy = next(each for each in map(take_apart, mixed(("choice",), 40)) if _options(each))
    (one, other), *_ = _options(anatomy)
    pair = Group((one,)), Group((other,))
    ring = (Sentence((Clause("verb", "<", *pair),)), Sentence((Clause("verb", ">", *pair),)))
    fresh = tuple(draw_words(sentence, fresh_phrases(Dice(1))) for sentence in ring)
    torn = msgspec.structs.replace(
        anatomy, paragraph=(*anatomy.paragraph, *ring), words=(*anatomy.words, *fresh)
    )
    case = whole(torn)
    changed = whole(rephrase(torn, Dice(2)))
    assert changed.query != case.query
    assert_sound(changed)
    assert_equivalent(case, changed)


def _options(anatomy: Anatomy) -> list[tuple[int, int]]:
    parts = [part for sentence in anatomy.paragraph for part in sentence.parts]
    return [part.options for part in parts if isinstance(part, Alternative)]
