"""How far a run is: counts, pace, time left, what is spent."""

from misstep.cli.display import PlainDisplay, ProgressSoFar
from misstep.core.event import RunStarted, Spending
from misstep.core.spending import WINDOW, Budget, Cost, Pace
from misstep.rendering.terminal import spending_in_words
from tests.cli.test_display import Watched, finished


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_pace_is_that_of_the_last_half_minute() -> None:
    clock = Clock()
    pace = Pace(0, clock)
    for second in range(100):
        clock.now += 1
        pace.reach(10 * (second + 1))
    assert pace.rate == 10
    for _ in range(int(WINDOW)):
        clock.now += 1
        pace.reach(1000)
    assert pace.rate == 0
    assert pace.left(2000) is None


def test_a_pace_says_nothing_of_the_first_moments() -> None:
    clock = Clock()
    pace = Pace(50, clock)
    clock.now += 1
    pace.reach(60)
    assert pace.rate is None
    assert pace.left(100) is None
    clock.now += 4
    pace.reach(70)
    assert pace.rate == 4
    assert pace.left(100) == 7.5


def test_what_earlier_sittings_did_is_no_part_of_the_pace() -> None:
    clock = Clock()
    progress = ProgressSoFar(RunStarted("r1", 110, {"passed": 90}), clock)
    clock.now += 10
    for _ in range(10):
        progress.add(finished(True))
    assert (progress.rate, progress.left) == ("1.0 cases/s", "10 s left")
    assert progress.counts == "passed 100  failed 0"


def test_a_budget_of_time_may_end_it_sooner() -> None:
    clock = Clock()
    progress = ProgressSoFar(RunStarted("r1", 1000, {}), clock)
    clock.now += 10
    for _ in range(10):
        progress.add(finished(True))
    assert progress.left == "16 min left"
    progress.spend(Spending("r1", Cost(seconds=10), Budget(seconds=70)))
    assert progress.left == "60 s left"


def test_fuzzing_gets_on_by_calls() -> None:
    clock = Clock()
    progress = ProgressSoFar(RunStarted("r1", 2, {}, unit="tool"), clock)
    progress.spend(Spending("r1", Cost(calls=5_000), Budget()))
    assert progress.rate == ""
    clock.now += 10
    progress.spend(Spending("r1", Cost(calls=45_000), Budget()))
    assert progress.rate == "4,000 calls/s"


def test_spending_is_told_against_the_budget() -> None:
    used = Cost(0.123, 12_345, 75.0, 678)
    assert spending_in_words(used, Budget(1.5, 50_000, 600.0, 1_000)) == (
        "0.12 USD of 1.5, 12,345 of 50,000 tokens, 678 of 1,000 calls, 75 s of 10 min"
    )
    assert spending_in_words(used, Budget()) == "0.12 USD, 12,345 tokens"
    assert spending_in_words(Cost(calls=3, seconds=2), Budget()) == ""


def test_a_line_of_a_log_has_it_all() -> None:
    clock, stream = Clock(), Watched(terminal=False)
    with PlainDisplay(stream, clock) as display:
        display(RunStarted("r1", 20, {}))
        display(Spending("r1", Cost(tokens=900), Budget(tokens=1_000)))
        clock.now += 4
        display(finished(False))
        display(finished(True))
    assert stream.getvalue().splitlines()[-1] == (
        "2/20  passed 1  failed 1  0.50 cases/s  900 of 1,000 tokens  36 s left"
    )
