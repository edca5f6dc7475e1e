"""The pair of requests that shows a fault best."""

from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.core.results.consistency import Score, Side
from misstep.fuzzing.consistency.buckets import find_evidence, sort_into_buckets
from tests.fuzzing.consistency.trials import TOOL, numbered, use

TRIALS = numbered(
    [use("465 km", n=1)], [use("465 km", n=2)], [use("939 miles away", n=3)], [use("466 km", n=4)]
)
BUCKETS = sort_into_buckets(TRIALS, TOOL)


def test_a_wrong_one_beside_a_right_one() -> None:
    scores = [
        Score(1, 9, "fine"),
        Score(2, 2, "no", 2, "no"),
        Score(3, 9, "fine"),
        Score(4, 1, "no", 9, "yes"),
    ]
    found = find_evidence(TRIALS, TOOL, BUCKETS, scores)
    assert found.wrong == Side(2, "request 2", '{"n": 2}', "465 km", "answer 2", 2)
    assert found.right == Side(3, "request 3", '{"n": 3}', "939 miles away", "answer 3", 9)


def test_the_two_that_differ_most_where_nobody_judges() -> None:
    found = find_evidence(TRIALS, TOOL, BUCKETS)
    assert found.right is not None
    assert 3 in (found.wrong.number, found.right.number)
    assert found.wrong.score is None


def test_one_alone() -> None:
    found = find_evidence({1: TRIALS[1]}, TOOL, BUCKETS)
    assert (found.wrong.number, found.right) == (1, None)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from("xyz")), min_size=2, max_size=6))
def test_a_pair_differs_in_input_and_output_if_the_set_does(made: list[tuple[int, str]]) -> None:
    trials = numbered(*[[use(result, n=n)] for n, result in made])
    buckets = sort_into_buckets(trials, TOOL)
    found = find_evidence(trials, TOOL, buckets)
    assert found.right is not None
    if len(buckets.inputs) > 1 and len(buckets.outputs) > 1:
        assert found.wrong.inputs != found.right.inputs
        assert found.wrong.outputs != found.right.outputs
