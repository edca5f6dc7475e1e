"""Trials in buckets: what is the same, and what is not."""

from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.core.results.consistency import Bucket
from misstep.core.results.trial import Judged, Trial, Use
from misstep.fuzzing.consistency.buckets import NO_CALL, normaliser, outputs_in_words, sort_into_buckets
from tests.fuzzing.consistency.trials import TOOL, numbered, use

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


def inputs_of(*uses: list[Use]) -> list[tuple[int, ...]]:
    return [bucket.requests for bucket in sort_into_buckets(numbered(*uses), TOOL).inputs]


def test_buckets_like_those_of_the_paper() -> None:
    trials = numbered(
        [use("939 km", start="Paris", end="Lyon")],
        [use("465 km", end="Lyon, France", start="Paris, France")],
        [use("465 km", start="City of Paris", end="City of Lyon")],
        [use("465 km", start="Paris, France", end="Lyon, France")],
    )
    found = sort_into_buckets(trials, TOOL)
    assert found.inputs == (
        Bucket((1,), '{"end": "Lyon", "start": "Paris"}'),
        Bucket((2, 4), '{"end": "Lyon, France", "start": "Paris, France"}'),
        Bucket((3,), '{"end": "City of Lyon", "start": "City of Paris"}'),
    )
    assert found.outputs == (Bucket((1,), "939 km"), Bucket((2, 3, 4), "465 km"))


def test_one_and_a_float_and_true_are_three_things() -> None:
    assert inputs_of([use(n=1)], [use(n=1.0)], [use(n=True)], [use(n=1)]) == [(1, 4), (2,), (3,)]


def test_all_calls_count_in_their_order() -> None:
    one, other = use("x", n=1), use("y", n=2)
    assert inputs_of([one, other], [other, one], [one], [one, other]) == [(1, 4), (2,), (3,)]


def test_calls_of_other_tools_do_not_count() -> None:
    assert inputs_of([use(n=1)], [use(n=1), use(n=9, tool="other")]) == [(1, 2)]


def test_trials_without_a_call_are_like_no_others() -> None:
    trials = numbered([], [use(NO_CALL, n=1)], [use("x", tool="other")], [use("", n=1)])
    found = sort_into_buckets(trials, TOOL)
    assert found.inputs == (Bucket((1, 3), NO_CALL), Bucket((2, 4), '{"n": 1}'))
    assert [bucket.requests for bucket in found.outputs] == [(1, 3), (2,), (4,)]


def test_two_results_are_not_one_that_looks_like_them() -> None:
    trials = numbered([use("a\nb", n=1)], [use("a", n=1), use("b", n=1)])
    assert [bucket.requests for bucket in sort_into_buckets(trials, TOOL).outputs] == [(1,), (2,)]


def test_arguments_that_are_no_json_any_more_stay_as_they_are() -> None:
    broken = Use(TOOL, '{"pin": [masked]}', "x", Judged("fine"))
    found = sort_into_buckets({1: Trial("a", (broken,)), 2: Trial("b", (use("x", pin=1),))}, TOOL)
    assert [bucket.value for bucket in found.inputs] == ['{"pin": [masked]}', '{"pin": 1}']


def test_what_is_long_is_cut_but_compared_as_a_whole() -> None:
    trials = numbered([use("x" * 9_000 + "a")], [use("x" * 9_000 + "b")])
    found = sort_into_buckets(trials, TOOL).outputs
    assert len(found) == 2
    assert all(len(bucket.value) < 3_000 for bucket in found)


def test_whoever_judges_sees_more() -> None:
    (trial,) = numbered([use("x" * 5_000, start="Paris")]).values()
    assert outputs_in_words(trial, TOOL, 8_000) == "x" * 5_000
    assert len(outputs_in_words(trial, TOOL)) < 2_100


def test_with_a_normaliser() -> None:
    trials = numbered(
        [use("It is 465.31 km", place="Lyon", near=1.0)],
        [use("it is  465 KM", near=1, place="lyon ")],
        [use("it is 939 km", near=True, place="lyon")],
    )
    found = sort_into_buckets(trials, TOOL, normaliser(date(2026, 5, 17)))
    assert [bucket.requests for bucket in found.inputs] == [(1, 2), (3,)]
    assert [bucket.requests for bucket in found.outputs] == [(1, 2), (3,)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(VALUES.map(lambda value: use(str(value), v=value)), max_size=3), max_size=6))
def test_every_trial_is_in_one_bucket_and_normalising_only_joins(uses: list[list[Use]]) -> None:
    trials = numbered(*uses)
    exact = sort_into_buckets(trials, TOOL)
    rough = sort_into_buckets(trials, TOOL, normaliser(date(2026, 5, 17)))
    for fine, coarse in ((exact.inputs, rough.inputs), (exact.outputs, rough.outputs)):
        assert sorted(number for bucket in fine for number in bucket.requests) == list(trials)
        for bucket in fine:
            assert any(set(bucket.requests) <= set(other.requests) for other in coarse)


def test_lone_surrogates_can_be_shown() -> None:
    (trial,) = numbered([use("\ud800", n="\ud800")]).values()
    assert outputs_in_words(trial, TOOL) == "?"
    assert sort_into_buckets({1: trial}, TOOL).inputs == (Bucket((1,), '{"n": "?"}'),)
