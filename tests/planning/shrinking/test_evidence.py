"""The sequential test keeps what it promises, reckoned out exactly."""

from collections import defaultdict

import pytest

from misstep.planning.shrinking.shrinker import FALSE_ALARM, MOST_BROKEN, NOISE, TrialCounts, Yardstick


def outcomes(yardstick: Yardstick, rate: float, most: int = 3000) -> tuple[float, float, float]:
    """How likely a case of a true rate is kept and dropped, and how many runs that takes on average."""
    open_ = {(0, 0): 1.0}
    kept = dropped = runs = 0.0
    for _ in range(most):
        following: dict[tuple[int, int], float] = defaultdict(float)
        for (failed, passed), share in open_.items():
            runs += share
            for more, chance in (((failed + 1, passed), rate), ((failed, passed + 1), 1 - rate)):
                decided = yardstick.decide(TrialCounts(*more))
                if decided is None:
                    following[more] += share * chance
                elif decided:
                    kept += share * chance
                else:
                    dropped += share * chance
        open_ = {state: share for state, share in following.items() if share > 1e-15}
    return kept, dropped, runs


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5, 0.9])
def test_errors_are_as_rare_as_promised(rate: float, confidence: float) -> None:
    yardstick = Yardstick(rate, confidence)
    _, missed, _ = outcomes(yardstick, rate)
    mistaken, _, _ = outcomes(yardstick, rate * NOISE)
    # Wald's bounds: each kind of error is at most its own over one less the other.
    assert missed <= (1 - confidence) / (1 - FALSE_ALARM)
    assert mistaken <= FALSE_ALARM / confidence


@pytest.mark.parametrize("rate", [0.3, 0.5, 0.9])
def test_what_never_fails_is_dropped_soonest(rate: float) -> None:
    """With no failure at all it takes as many runs as an equal case would need to show one, or somewhat more."""
    kept, dropped, runs = outcomes(Yardstick(rate, 0.95), 0.0)
    assert (kept, dropped) == (0.0, 1.0)
    fewest = next(n for n in range(1, 100) if (1 - rate) ** n <= 0.05)
    assert fewest <= runs <= 2 * fewest + 1


def test_one_run_decides_where_everything_always_fails() -> None:
    always = Yardstick(1.0, 0.95)
    assert always.decide(TrialCounts()) is None
    assert always.decide(TrialCounts(failed=1)) is True
    assert always.decide(TrialCounts(failed=2, passed=1)) is False
    assert always.needed(TrialCounts()) == 1


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(
    "trials", [TrialCounts(), TrialCounts(1, 1), TrialCounts(1, 2), TrialCounts(0, 1, 2)]
)
def test_no_fewer_runs_could_decide_and_that_many_might(rate: float, trials: TrialCounts) -> None:
    yardstick = Yardstick(rate, 0.95)
    if yardstick.decide(trials) is not None:
        return
    needed = yardstick.needed(trials)
    ways = [[trials + TrialCounts(f, n - f) for f in range(n + 1)] for n in range(needed + 1)]
    assert all(yardstick.decide(way) is None for n in range(needed) for way in ways[n])
    assert any(yardstick.decide(way) is not None for way in ways[needed])


def test_what_can_t_be_run_is_dropped_in_the_end() -> None:
    for rate in (0.5, 1.0):
        assert Yardstick(rate, 0.95).decide(TrialCounts(broken=MOST_BROKEN)) is None
        assert Yardstick(rate, 0.95).decide(TrialCounts(broken=MOST_BROKEN + 1)) is False
