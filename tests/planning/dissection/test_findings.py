"""What has been found, in words."""

from itertools import permutations

import pytest

from misstep.core.case import Case
from misstep.core.constraint import Before
from misstep.core.outcome import Outcome, Transcript, Verdict
from misstep.planning.dissection.findings import (
    VariantRun,
    find_sentences,
    give_evidence,
    give_odds,
    name_guilty,
    name_shape,
    occurrences,
)
from misstep.planning.dissection.hypotheses import (
    SAME_DEMANDS,
    AllDemands,
    ConstantRate,
    Guilty,
    Hopeless,
    Hypothesis,
)
from misstep.planning.plans.order import Order
from misstep.planning.synthesis.paragraphs import unlabelled_orders
from misstep.planning.variation.anatomy import take_apart
from misstep.planning.variation.elements import Element, elements_of, where
from tests.planning.dissection.conftest import judged, some_case

WORD = Element("terminal", "prior to")
TOPIC = Element("topic", "baker")
ORIGINAL = frozenset([WORD, TOPIC, SAME_DEMANDS])


def runs() -> list[VariantRun]:
    """Three of the same case, two without the word, one of them with other constraints."""
    case = some_case()
    return [
        VariantRun(ORIGINAL, judged(case, "failed")),
        VariantRun(ORIGINAL, judged(case, "failed")),
        VariantRun(ORIGINAL, judged(case, "passed")),
        VariantRun(ORIGINAL - {WORD}, judged(case, "passed")),
        VariantRun(ORIGINAL - {WORD, SAME_DEMANDS}, judged(case, "failed")),
    ]


@pytest.mark.parametrize(
    ("hypothesis", "evidence"),
    [
        (Guilty(WORD), "failed 2 of 3 runs with 'prior to', 1 of 2 without it"),
        (Guilty(TOPIC), "failed 3 of 5 runs on topic baker, 0 of 0 on others"),
        (AllDemands(), "failed 2 of 4 runs with the same constraints, 1 of 1 with others"),
        (Hopeless(), "failed 3 of 5 runs, whatever was changed"),
        (ConstantRate(), "failed 2 of 3 runs of the same case, 1 of 2 with something changed"),
    ],
)
def test_evidence(hypothesis: Hypothesis, evidence: str) -> None:
    assert give_evidence(hypothesis, runs(), ORIGINAL) == evidence


def test_names() -> None:
    anatomy = take_apart(some_case())

    def name(*accused: Hypothesis) -> str:
        return name_guilty(accused, anatomy, runs())

    assert name(Guilty(WORD)) == "'prior to'"
    assert name(Guilty(TOPIC)) == "topic baker"
    assert name(AllDemands(), Hopeless()) == "all constraints together or any request"
    assert name(*[Guilty(WORD)] * 5) == "'prior to' or 'prior to' or 'prior to' or something else"
    # Beta(1, 2) with the first failure, three more and two that passed: Beta(5, 4)
    assert name(ConstantRate()) == "fails 56 % of the time, whatever changes"


def test_forms_are_named_with_their_sentences() -> None:
    for index in range(10):
        anatomy = take_apart(some_case(index))
        for element in elements_of(anatomy):
            if element.cause == "structure":
                places = [str(number + 1) for number in where(anatomy, element)]
                named = name_guilty([Guilty(element)], anatomy, ())
                assert named.startswith(f"{element.name} (sentence")
                assert all(place in named for place in places)
                assert find_sentences([Guilty(element)], anatomy) == where(anatomy, element)


def test_odds_leave_out_what_is_unlikely() -> None:
    odds = give_odds({"topic": 0.3, "structure": 0.66, "probability": 0.04}, 12)
    assert odds == "after 12 runs: structure 66 %, topic 30 %"


@pytest.mark.parametrize("size", [3, 4])
def test_occurrences_are_all_there_are(size: int) -> None:
    for closure in unlabelled_orders(size):
        order = Order(size, [(i, j) for i in range(size) for j in range(size) if closure[i] >> j & 1])
        before = order.implies
        triples = list(permutations(range(size), 3))
        assert {*occurrences("chain", order)} == {
            (i, j, k) for i, j, k in triples if before(i, j) and before(j, k)
        }
        free = [(i, j, k) for i, j, k in triples if i < j and not before(i, j) and not before(j, i)]
        assert {*occurrences("join", order)} == {
            (i, j, k) for i, j, k in free if before(i, k) and before(j, k)
        }
        assert {*occurrences("fork", order)} == {
            (i, j, k) for i, j, k in free if before(k, i) and before(k, j)
        }


def breach(case: Case, index: int) -> Outcome:
    return Outcome(case, Transcript(case.id, ()), Verdict(case.id, "failed", "order", violated=(index,)))


def test_the_occurrence_that_was_broken_is_shown() -> None:
    tried = 0
    for number in range(30):
        case = some_case(number)
        anatomy = take_apart(case)
        names = {action.id: action.name for action in case.actions}
        for shape in [each.name for each in elements_of(anatomy) if each.name in ("chain", "join", "fork")]:
            for index, broken in enumerate(case.constraints):
                shown = name_shape(shape, anatomy, [breach(case, index)] * 3)
                assert isinstance(broken, Before)
                ends = names[broken.first], names[broken.then]
                possible = any(
                    {broken.first, broken.then} <= {case.actions[place].id for place in triple}
                    for triple in occurrences(shape, order_of_case(case))
                )
                assert possible == all(f"the {name}" in shown for name in ends)
                tried += possible
    assert tried > 50


def order_of_case(case: Case) -> Order:
    ids = [action.id for action in case.actions]
    return Order(len(ids), [(ids.index(c.first), ids.index(c.then)) for c in case.constraints])
