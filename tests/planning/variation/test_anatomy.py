"""Taken apart and put together again, a case is the same to the last byte."""

import msgspec
import pytest

from misstep.core.case import Case, World, plain_order
from misstep.core.constraint import Family, Repeat, Window
from misstep.core.rng import Dice
from misstep.planning.admission.validation import validate_case
from misstep.planning.language.lexicon import load_topics
from misstep.planning.language.syntax import Clause, Duty, Free, Giving, Group, Sentence
from misstep.planning.synthesis.suite import ASSISTANT, Suite, make_case
from misstep.planning.variation.anatomy import Anatomy, again, assemble, demands_of, slots, take_apart
from misstep.planning.variation.phrasing import Choosing, draw_words
from tests.planning.variation.kinds import MIXTURES, TEMPLATES, every_kind, mixed, own


def rebuilt(case: Case) -> Case:
    whole = assemble(take_apart(case))
    assert whole is not None
    return whole


def assert_same(case: Case) -> None:
    whole = rebuilt(case)
    assert whole == case
    assert msgspec.json.encode(whole) == msgspec.json.encode(case)


@pytest.mark.full(after=1)
@pytest.mark.parametrize("template", TEMPLATES)
def test_order(template: str) -> None:
    for distractors in (0, 3):
        suite = Suite(5, 2, 10, request=template, distractors=distractors)
        for index in range(200):
            assert_same(make_case(suite, index))


def test_large_orders_and_many_redundancies() -> None:
    for case in mixed(("order",), 300, seed=1):
        assert_same(case)
    for index in range(30):
        assert_same(make_case(Suite(2, 15, 20), index))


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_order_there_is(template: str) -> None:
    suite = Suite(3, 2, 5, request=template, exhaustive=True)
    for index in range(suite.orders()):
        assert_same(make_case(suite, index))


@pytest.mark.full(after=2)
@pytest.mark.parametrize("families", MIXTURES, ids=",".join)
def test_families(families: tuple[Family, ...]) -> None:
    for seed, template in enumerate(TEMPLATES):
        for distractors in (0, 2):
            for case in mixed(families, 8, seed=seed, request=template, distractors=distractors):
                assert_same(case)


def test_tools_of_the_users_own() -> None:
    for case in own(20):
        assert_same(case)
        assert take_apart(case).topic == ASSISTANT


def test_what_has_been_stored_is_the_same() -> None:
    for case in every_kind(2, seed=4):
        stored = msgspec.json.decode(msgspec.json.encode(case), type=Case)
        assert take_apart(stored) == take_apart(case)
        assert_same(stored)


def test_the_parts_are_those_of_the_case() -> None:
    case = make_case(Suite(7, 4, 4, topics=("florist",), request="memo", distractors=1), 0)
    anatomy = take_apart(case)
    assert (anatomy.seed, anatomy.request, anatomy.topic) == (case.seed, "memo", load_topics()["florist"])
    assert (anatomy.actions, anatomy.distractors) == (case.actions, case.distractors)
    assert tuple(demands_of(anatomy)) == case.constraints
    assert len(anatomy.words) == len(case.sentences)
    for sentence, found in zip(case.sentences, slots(anatomy), strict=True):
        for slot in found:
            assert slot.word in slot.options
            said = (slot.word.one, slot.word.many)
            assert any(phrase in sentence[0].lower() + sentence[1:] for phrase in said)


def test_announcements_are_found() -> None:
    cases = [case for case in mixed(("order", "dynamic"), 40) if case.world.announcements]
    assert cases
    for case in cases:
        anatomy = take_apart(case)
        announced = [c for c in case.constraints if c.sentence is None]
        assert list(anatomy.announced) == announced
        assert anatomy.announcing(anatomy.announcements) == anatomy


def test_again_differs_in_seed_and_id_only() -> None:
    for case in every_kind(2):
        runs = [again(case, number) for number in range(3)]
        assert len({run.seed for run in (case, *runs)}) == len({run.id for run in (case, *runs)}) == 4
        assert runs == [again(case, number) for number in range(3)]
        for run in runs:
            assert msgspec.structs.replace(run, id=case.id, seed=case.seed) == case
            assert run.identified() == run
            assert_same(run)


# What assemble makes of parts that have been changed.


def plain(case: Case) -> Anatomy:
    anatomy = take_apart(case)
    assert plain_order(case) is not None
    return anatomy


def saying(anatomy: Anatomy, *sentences: Sentence) -> Anatomy:
    choosing = Choosing((), Dice(0))
    words = tuple(draw_words(sentence, choosing.draw) for sentence in sentences)
    return msgspec.structs.replace(anatomy, paragraph=sentences, words=words, redundant=())


def before(first: int, then: int) -> Sentence:
    return Sentence((Clause("verb", "<", Group((first,)), Group((then,))),))


def test_an_action_that_is_not_mentioned_makes_no_case() -> None:
    anatomy = plain(make_case(Suite(0, 3, 3), 0))
    assert assemble(saying(anatomy, before(0, 1))) is None
    assert assemble(saying(anatomy, before(0, 1), Sentence((Free(Group((2,))),)))) is not None


def test_a_contradiction_makes_no_case() -> None:
    anatomy = plain(make_case(Suite(0, 2, 2), 0))
    assert assemble(saying(anatomy, before(0, 1), before(1, 0))) is None


def test_to_give_arguments_is_not_to_mention() -> None:
    case = next(case for case in own(4) if any(c.sentence is not None for c in case.constraints))
    anatomy = take_apart(case)
    giving = [sentence for sentence in anatomy.paragraph if isinstance(sentence.parts[0], Giving)]
    everybody = Sentence((Duty(tuple(range(len(anatomy.actions)))),))
    assert giving
    assert assemble(saying(anatomy, *giving)) is None
    assert assemble(saying(anatomy, *giving, everybody)) is not None


def test_words_that_do_not_fit_are_a_mistake() -> None:
    anatomy = plain(make_case(Suite(0, 4, 4), 0))
    for words in (anatomy.words[1:], (*anatomy.words, anatomy.words[0]), anatomy.words[::-1]):
        with pytest.raises(ValueError, match=r"phrases that fit|more words"):
            assemble(msgspec.structs.replace(anatomy, words=words))


def test_the_world_keeps_to_what_is_still_said() -> None:
    for case in mixed(("time", "repeat", "data", "choice", "dynamic"), 10):
        anatomy = take_apart(case)
        everybody = Sentence((Duty(tuple(range(len(anatomy.actions)))),))
        left = msgspec.structs.replace(saying(anatomy, everybody), announced=())
        bare = assemble(left)
        assert bare is not None
        failing = World(failures=case.world.failures, retries=case.world.retries)
        assert (bare.constraints, bare.world) == ((), failing)
        assert validate_case(bare) == bare
        assert rebuilt(bare) == bare


def test_a_case_with_less_is_sound() -> None:
    """Any sentence can be left out, as long as every action is still spoken of."""
    kept = 0
    for case in mixed(("order", "time", "repeat", "data"), 12):
        anatomy = take_apart(case)
        everybody = Sentence((Duty(tuple(range(len(anatomy.actions)))),))
        for number in range(len(anatomy.paragraph)):
            rest = [said for n, said in enumerate(anatomy.paragraph) if n != number]
            less = assemble(saying(anatomy, *rest, everybody))
            if less is not None:
                kept += 1
                assert validate_case(less) == less
                assert rebuilt(less) == less
                kinds = {type(c) for c in less.constraints}
                assert (less.world.day is not None) == (Window in kinds)
                assert Repeat not in kinds or all(
                    c.times > 1 for c in less.constraints if isinstance(c, Repeat)
                )
    assert kept > 30
