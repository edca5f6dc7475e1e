"""Where a failure shows, weighed by counting all the ways in which it might have shown."""

from itertools import combinations

import pytest

from misstep.core.case import Case
from misstep.core.outcome import Outcome, Transcript, Verdict
from misstep.planning.dissection.findings import weigh_places
from misstep.planning.variation.anatomy import take_apart
from misstep.planning.variation.elements import Element, elements_of, where
from tests.planning.dissection.conftest import some_case


def broken(case: Case, sentences: tuple[int, ...]) -> Outcome:
    """A failure that breaks one constraint of each sentence."""
    said = [constraint.sentence for constraint in case.constraints]
    violated = tuple(said.index(sentence) for sentence in sentences)
    return Outcome(case, Transcript(case.id, ()), Verdict(case.id, "failed", "order", violated=violated))


@pytest.mark.parametrize("index", range(12))
def test_ratios_are_shares_of_all_the_ways(index: int) -> None:
    case = some_case(index)
    anatomy = take_apart(case)
    demanding = sorted({constraint.sentence for constraint in case.constraints})
    for size in range(1, len(demanding) + 1):
        ways = list(combinations(demanding, size))
        for way in ways:
            weighed = weigh_places(anatomy, elements_of(anatomy), broken(case, way))
            for element in elements_of(anatomy):
                touching = [other for other in ways if {*other} & {*where(anatomy, element)}]
                share = len(touching) / len(ways)
                if element.cause == "topic" or share in (0, 1):
                    assert element not in weighed
                elif way in touching:
                    assert weighed[element] == pytest.approx(0.9 / share)
                else:
                    assert weighed[element] == pytest.approx(0.1 / (1 - share))


def test_the_word_in_the_broken_sentence_gains_on_those_elsewhere() -> None:
    case = next(case for case in map(some_case, range(50)) if len({c.sentence for c in case.constraints}) > 3)
    anatomy = take_apart(case)
    weighed = weigh_places(anatomy, elements_of(anatomy), broken(case, (0,)))
    for sentence, words in enumerate(anatomy.words):
        for word in words:
            element = Element("terminal", word.one)
            if where(anatomy, element) == (sentence,) and element in weighed:
                assert (weighed[element] > 1) == (sentence == 0)


def test_a_failure_that_breaks_nothing_says_nothing() -> None:
    case = some_case()
    anatomy = take_apart(case)
    assert weigh_places(anatomy, elements_of(anatomy), broken(case, ())) == {}
