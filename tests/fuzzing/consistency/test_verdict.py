"""A set has failed only if everybody says so."""

from itertools import product

import pytest

from misstep.core.results.consistency import Bucket, Score, set_id
from misstep.errors import UsageError
from misstep.fuzzing.consistency.buckets import consistency_says, judge_says, settle
from misstep.fuzzing.consistency.making import Approach

RIGHT = Score(1, 5, "close")
WRONG = Score(2, 4, "far off", 4, "far off")
TORN = Score(3, 1, "far off", 5, "close")


def test_scores_say() -> None:
    assert [score.says for score in (RIGHT, WRONG, TORN)] == ["right", "wrong", "contradiction"]
    assert Score(1, 1, "asked but once").says == "contradiction"


@pytest.mark.parametrize(
    ("scores", "complete", "says"),
    [
        ([RIGHT], True, False),
        ([RIGHT, WRONG], True, True),
        ([RIGHT, TORN], True, None),
        ([WRONG, TORN], True, True),
        ([RIGHT], False, None),
        ([WRONG], False, True),
    ],
)
def test_the_judge_says(scores: list[Score], complete: bool, says: bool | None) -> None:
    assert judge_says(scores, complete) is says


def test_consistency_says() -> None:
    one, other = Bucket((1,), "x"), Bucket((2,), "y")
    assert consistency_says([one], complete=True) is False
    assert consistency_says([one], complete=False) is None
    assert consistency_says([one, other], complete=True) is True
    assert consistency_says([one, other], complete=False) is True


def test_all_have_to_say_so() -> None:
    for said in product((True, False, None), repeat=3):
        verdict = settle(said)
        assert (verdict == "failed") == (said == (True, True, True))
        assert (verdict == "passed") == (False in said)
    assert settle([True]) == "failed"


def test_some_check_has_to_be_left() -> None:
    with pytest.raises(UsageError, match="no checks are selected"):
        Approach(checks=())


def test_ids_are_those_of_tool_and_requests() -> None:
    assert set_id("a", ["x", "y"]) == set_id("a", ("x", "y"))
    assert len({set_id("a", ["x", "y"]), set_id("b", ["x", "y"]), set_id("a", ["y", "x"])}) == 3
    assert set_id("a", ["\ud800"])
