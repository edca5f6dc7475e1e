"""The elements of a case are those that the independent reader and the definitions find in it."""

import re

import msgspec
import pytest

from misstep.core.case import Case, families_of
from misstep.core.constraint import Adjacent, Before, Condition, Handover
from misstep.core.outcome import Call, Transcript
from misstep.planning.judging.check import judge
from misstep.planning.simulated.planners import FORMS
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.variation.anatomy import take_apart
from misstep.planning.variation.elements import Element, elements_of, where
from tests.planning.variation.kinds import every_kind, mixed, own
from tests.planning.variation.meaning import heard, readings
from tests.quality.test_planted_faults import occurs


def names(case: Case, cause: str) -> set[str]:
    return {element.name for element in elements_of(take_apart(case)) if element.cause == cause}


def plain_cases(count: int, seed: int = 21) -> list[Case]:
    return [make_case(Suite(seed, 2, 7), index) for index in range(count)]


@pytest.mark.full
def test_phrases_are_called_what_the_reader_calls_them() -> None:
    for case in every_kind(8, seed=2):
        terminals = names(case, "terminal")
        assert {relation.phrase for relation in heard(case)} <= terminals
        assert {phrase for reading in readings(case) for phrase in reading.phrases} <= terminals


def test_every_phrase_is_in_the_text() -> None:
    for case in plain_cases(100):
        text = " ".join(case.sentences).lower()
        for name in names(case, "terminal"):
            first, *_ = re.split(r"\{", name)
            last = first.rstrip().rsplit(" ", 1)[-1].removesuffix("s")
            assert last in text


@pytest.mark.full
def test_forms_of_clauses_are_those_that_the_reader_finds() -> None:
    for case in every_kind(8, seed=3):
        assert names(case, "structure") & {*FORMS} == {relation.form for relation in heard(case)}


def test_lists_and_joined_sentences() -> None:
    for case in plain_cases(150):
        written = case.skeleton
        assert ("list" in names(case, "structure")) == ("+" in written)
        joined = "; " in written or re.search(r", (and|but|yet|while|whereas) ", written) is not None
        assert ("joined sentence" in names(case, "structure")) == joined


def test_forms_of_remarks() -> None:
    for case in mixed(("time", "adjacent", "order"), 40):
        found = names(case, "structure")
        written = case.skeleton
        assert ("fronted time" in found) == ("BEFORE " in written)
        assert ("relative time" in found) == bool(re.search(r"which (STARTS|ENDS)", written))
        assert ("time" in found) == bool(re.search(r"a\d (STARTS|ENDS)[<>]", written))
        assert ("adjacent fronted preposition" in found) == bool(re.search(r"(^|\. )NEXT", written))
        assert ("adjacent preposition" in found) == ("VP0 NEXT" in written)
        assert ("adjacent verb" in found) == bool(re.search(r"a\d NEXT", written))


def read_order(case: Case) -> list[str]:
    """The ids of the actions as the reader first hears of them."""
    ids = {action.name: action.id for action in case.actions}
    return list(dict.fromkeys(ids[name] for reading in readings(case) for name in reading.mentioned))


def breaks_reading_order(case: Case) -> bool:
    """Whether something has to come before what the text speaks of earlier."""
    heard = read_order(case)
    pairs = list[tuple[str, str]]()
    for c in case.constraints:
        if (isinstance(c, Before) and not c.announced) or isinstance(c, Adjacent):
            pairs.append((c.first, c.then))
        elif isinstance(c, Handover):
            pairs.append((c.giver, c.taker))
        elif isinstance(c, Condition):
            pairs += [(c.asks, branch) for branch in (c.then, c.otherwise) if branch]
    return any(heard.index(first) > heard.index(then) for first, then in pairs)


def passes_as_read(case: Case) -> bool:
    """Whether it is right to carry out everything in the order in which the text first speaks of it."""
    tools = {action.id: action.tool for action in case.actions}
    calls = tuple(Call(tools[action], {}) for action in read_order(case))
    return judge(case, Transcript(case.id, calls)).verdict == "passed"


def test_the_order_of_reading() -> None:
    found = set[bool]()
    for case in [*plain_cases(150), *every_kind(6, seed=4)]:
        breaks = breaks_reading_order(case)
        assert ("reading order" in names(case, "structure")) == breaks
        found.add(breaks)
    assert found == {True, False}


def test_to_do_as_one_reads_is_right_where_the_order_of_reading_is() -> None:
    for case in plain_cases(300):
        assert passes_as_read(case) == ("reading order" not in names(case, "structure"))


@pytest.mark.parametrize("shape", ["chain", "join", "fork"])
def test_shapes(shape: str) -> None:
    counts = {True: 0, False: 0}
    for case in plain_cases(200):
        present = shape in names(case, "constraint")
        assert present == occurs(shape, case)
        counts[present] += 1
    assert all(counts.values())


def test_families() -> None:
    for case in every_kind(6, seed=5):
        beyond = {family for family in families_of(case) if family != "order"}
        assert names(case, "constraint") - {"chain", "join", "fork"} == beyond


def test_the_topic() -> None:
    for case in plain_cases(20):
        assert names(case, "topic") == {case.topic}
    for case in own(2):
        assert names(case, "topic") == set()  # nobody can change it


# Where they are


def test_phrases_and_forms_are_in_the_sentences_that_say_so() -> None:
    for case in plain_cases(100, seed=22):
        anatomy = take_apart(case)
        found = readings(case)
        for phrase in {relation.phrase for reading in found for relation in reading.relations}:
            expected = [
                n for n, reading in enumerate(found) if phrase in [r.phrase for r in reading.relations]
            ]
            assert where(anatomy, Element("terminal", phrase)) == tuple(expected)
        for form in FORMS:
            expected = [n for n, reading in enumerate(found) if form in [r.form for r in reading.relations]]
            assert where(anatomy, Element("structure", form)) == tuple(expected)


def test_the_sentences_of_a_shape_are_enough_for_it() -> None:
    for case in plain_cases(150, seed=23):
        anatomy = take_apart(case)
        for shape in ("chain", "join", "fork"):
            numbers = where(anatomy, Element("constraint", shape))
            said = [c for c in case.constraints if c.sentence in numbers]
            assert occurs(shape, msgspec.structs.replace(case, constraints=tuple(said))) == occurs(
                shape, case
            )
            assert bool(numbers) == occurs(shape, case)


def test_a_sentence_about_others_has_no_part_in_a_chain() -> None:
    named = 0
    for case in plain_cases(400, seed=24):
        numbers = where(take_apart(case), Element("constraint", "chain"))
        firsts = {c.first for c in case.constraints if isinstance(c, Before)}
        thens = {c.then for c in case.constraints if isinstance(c, Before)}
        for number in range(len(case.sentences)):
            said = [c for c in case.constraints if isinstance(c, Before) and c.sentence == number]
            linked = [c for c in said if c.first in thens or c.then in firsts]
            assert (number in numbers) == bool(linked)
            named += bool(numbers) and number not in numbers
    assert named > 10


def test_the_topic_is_everywhere() -> None:
    case = plain_cases(1)[0]
    anatomy = take_apart(case)
    assert where(anatomy, Element("topic", case.topic)) == tuple(range(len(case.sentences)))
    assert where(anatomy, Element("topic", "nobody")) == ()


def test_where_the_order_of_reading_is_broken() -> None:
    for case in plain_cases(100, seed=25):
        anatomy = take_apart(case)
        numbers = where(anatomy, Element("structure", "reading order"))
        assert bool(numbers) == breaks_reading_order(case)


def test_remarks_are_where_their_families_are() -> None:
    for case in mixed(("order", "time", "data", "choice"), 15):
        anatomy = take_apart(case)
        for family, kinds in (("time", "Window"), ("data", "Handover"), ("choice", "Choice Condition")):
            expected = {c.sentence for c in case.constraints if type(c).__name__ in kinds.split()}
            assert {*where(anatomy, Element("constraint", family))} == expected
