"""Experiments hold what they say they hold, and the best of them is chosen."""

import pytest

from misstep.core.case import Case
from misstep.planning.dissection.experiments import SAME, Experiment, Laboratory, variants
from misstep.planning.dissection.hypotheses import SAME_DEMANDS, Condition, Guilty, RequestText, hypotheses
from misstep.planning.variation.anatomy import take_apart
from misstep.planning.variation.elements import Element, elements_of
from tests.planning.dissection.conftest import some_case
from tests.planning.variation.test_vary import closure


def choose(case: Case, number: int, without: Condition) -> Experiment:
    """Worth most is what lacks these elements and nothing else."""
    laboratory = Laboratory(case, take_apart(case))

    def worth(condition: Condition) -> float:
        lost = laboratory.elements - condition
        return len(lost & without) - len(lost - without) / 100

    return laboratory.choose(number, hypotheses(laboratory.elements), worth)


@pytest.mark.parametrize("index", range(6))
@pytest.mark.parametrize("cause", ["terminal", "topic", "structure", "constraint"])
def test_an_experiment_holds_what_it_says(index: int, cause: str) -> None:
    case = some_case(index)
    whole = Laboratory(case, take_apart(case)).elements
    unwanted = frozenset([element for element in whole if element.cause == cause])
    chosen = choose(case, index, unwanted)
    told = chosen.condition - {SAME_DEMANDS, RequestText(chosen.case.query)}
    assert told == elements_of(take_apart(chosen.case)) & whole
    assert bool(unwanted) == bool(unwanted - chosen.condition)
    if SAME_DEMANDS in chosen.condition:
        assert closure(chosen.case) == closure(case)


def test_where_nothing_is_worth_more_the_same_case_is_run_again() -> None:
    case = some_case()
    chosen = choose(case, 7, frozenset())
    assert (chosen.case.query, chosen.condition) == (
        case.query,
        Laboratory(case, take_apart(case)).elements | {SAME_DEMANDS, RequestText(case.query)},
    )
    assert chosen.case.id != case.id


def test_every_run_has_a_variant_of_its_own() -> None:
    case = some_case()
    topic = frozenset([Element("topic", case.topic)])
    assert len({choose(case, number, topic).case.query for number in range(5)}) == 5


def test_suspicions_decide_what_is_left_out() -> None:
    words = [Element("terminal", name) for name in "abcdefgh"]
    elements = frozenset([*words, Element("topic", "baker"), Element("structure", "verb")])
    weights = hypotheses(elements)
    even = variants(elements, weights)
    assert even[0] == SAME
    assert len(even) == len({*even})
    assert frozenset(words) in even
    assert frozenset(words[:4]) in even
    certain = variants(elements, {**weights, Guilty(words[5]): 0.9})
    assert frozenset({words[5]}) in certain
    assert elements - {words[5]} in certain
    assert frozenset(words[:4]) not in certain
