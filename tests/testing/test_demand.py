"""How much success a test asks for."""

import pytest

from misstep.core.outcome import Usage
from misstep.core.results.summary import Summary
from misstep.core.stats import wilson
from misstep.testing.results import PassDemand


def summary(passed: int, failed: int, errored: int = 0) -> Summary:
    judged = passed + failed
    return Summary(
        run="r",
        agent="a",
        model=None,
        cases=judged + errored,
        passed=passed,
        failed=failed,
        inconclusive=0,
        errored=errored,
        errors={},
        success=passed / judged if judged else None,
        interval=wilson(passed, judged),
        chance=0.2,
        calls=0,
        tokens=Usage(),
        usd=None,
        seconds=0.0,
    )


@pytest.mark.parametrize("percent", range(101))
def test_a_rate_that_is_just_reached_is_enough(percent: int) -> None:
    """Whatever becomes of fractions in floating point."""
    demand = PassDemand(percent / 100)
    assert demand.shortfall(summary(percent, 100 - percent)) == ""
    if percent:
        assert demand.shortfall(summary(percent - 1, 101 - percent))


def test_what_falls_short_says_by_how_much_and_whether_it_may_be_luck() -> None:
    assert PassDemand(0.9).shortfall(summary(17, 3)) == (
        "success is 85.0 %, required 90.0 %\n"
        "the interval includes the required rate: run more cases to be sure"
    )
    assert PassDemand(0.9).shortfall(summary(50, 50)) == "success is 50.0 %, required 90.0 %"


def test_significant_demands_fail_only_beyond_the_interval() -> None:
    demand = PassDemand(0.9, significant=True)
    assert demand.shortfall(summary(17, 3)) == ""
    assert demand.shortfall(summary(15, 15))
    assert PassDemand(1.0, significant=True).shortfall(summary(99, 1))


def test_cases_that_nobody_could_judge_did_not_pass() -> None:
    assert PassDemand(0.9).shortfall(summary(8, 0, errored=2)).startswith("2 of 10 cases could not be judged")
    assert PassDemand(0.5).shortfall(summary(0, 0, errored=3)).startswith("3 of 3 cases could not be judged")
    assert PassDemand(0.0).shortfall(summary(0, 0, errored=3)) == ""
