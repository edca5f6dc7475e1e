"""Points, limits and errors against the outcomes they are made of."""

from collections.abc import Iterator
from math import floor, log

import msgspec
import pytest

from misstep.core.outcome import ERROR_KINDS, JUDGEMENTS, ErrorKind, Judgement, Outcome, Transcript, Verdict
from misstep.core.results.capability import Point
from misstep.core.rng import Dice
from misstep.core.stats import wilson
from misstep.planning.capability import CurveTally, capability_limit
from misstep.planning.synthesis.suite import Suite, make_case


def outcome(size: int, judgement: Judgement, error: ErrorKind | None = None, number: int = 0) -> Outcome:
    case = make_case(Suite(7, size, size), number)
    return Outcome(case, Transcript(case.id, ()), Verdict(case.id, judgement, error))


def outcomes(count: int, seed: int) -> Iterator[Outcome]:
    """The more actions the more failures, some cases without a verdict."""
    dice = Dice(seed)
    for number in range(count):
        size = 2 + dice.below(6)
        judgement = (
            dice.pick(JUDGEMENTS[2:]) if dice.chance(0.1) else dice.pick(["passed"] * 7 + ["failed"] * size)
        )
        yield outcome(size, judgement, dice.pick(ERROR_KINDS) if judgement == "failed" else None, number)


def test_points_are_what_the_outcomes_say() -> None:
    told = list(outcomes(300, 1))
    tally = CurveTally()
    for each in told:
        tally.add(each)
    measured = tally.capability("r", "a", "m", 0.2)
    assert (measured.run, measured.agent, measured.model, measured.threshold) == ("r", "a", "m", 0.2)
    assert [point.actions for point in measured.curve] == [2, 3, 4, 5, 6, 7]
    for point in measured.curve:
        here = [each for each in told if len(each.case.actions) == point.actions]
        judged = [each for each in here if each.verdict.verdict in ("passed", "failed")]
        passed = [each for each in judged if each.verdict.verdict == "passed"]
        assert (point.cases, point.passed, point.failed) == (
            len(here),
            len(passed),
            len(judged) - len(passed),
        )
        assert point.success == len(passed) / len(judged)
        assert point.interval == wilson(len(passed), len(judged))
        mean = sum(each.case.chance or 0 for each in judged) / len(judged)
        assert point.chance == pytest.approx(mean, abs=1e-8)


def test_the_order_of_outcomes_does_not_matter() -> None:
    told = list(outcomes(200, 2))
    one, other = CurveTally(), CurveTally()
    for each in told:
        one.add(each)
    for each in reversed(told):
        other.add(each)
    assert one.capability("r", "a", None, 0.2) == other.capability("r", "a", None, 0.2)


def test_only_errors_up_to_the_limit_count() -> None:
    tally = CurveTally()
    for number in range(10):
        tally.add(outcome(2, "passed", number=number))
        tally.add(outcome(3, "passed" if number else "failed", None if number else "lost", number))
        tally.add(outcome(4, "failed", "order", number))
        tally.add(outcome(5, "passed", number=number))
    measured = tally.capability("r", "a", None, 0.2)
    assert (measured.limit, measured.reached) == (3, True)
    assert measured.errors == {"timeout": 0, "act": 0, "lost": 1, "parameter": 0, "order": 0}


def test_an_agent_that_can_do_nothing_has_no_errors_within_its_limit() -> None:
    tally = CurveTally()
    for number in range(10):
        tally.add(outcome(2, "failed", "act", number))
    measured = tally.capability("r", "a", None, 0.2)
    assert (measured.limit, measured.reached, measured.half, measured.fit) == (None, True, None, None)
    assert not any(measured.errors.values())


def test_no_outcomes_are_no_capability() -> None:
    measured = CurveTally().capability("r", "a", None, 0.2)
    assert (measured.curve, measured.limit, measured.reached, measured.half) == ((), None, False, None)


def test_a_point_of_unjudged_cases_has_no_rate() -> None:
    tally = CurveTally()
    tally.add(outcome(4, "errored"))
    (point,) = tally.capability("r", "a", None, 0.2).curve
    assert point == Point(4, 1, 0, 0, None, (0.0, 1.0), None)


def points(*rates: float | None) -> list[Point]:
    return [Point(n, 10, 0, 0, rate, (0.0, 1.0), None) for n, rate in enumerate(rates, 2)]


@pytest.mark.parametrize(
    ("rates", "limit", "reached"),
    [
        ((), None, False),
        ((1.0, 0.6, 0.2, 0.19, 0.5), 4, True),
        ((1.0, 0.6), 3, False),
        ((0.1, 0.9), None, True),
        ((1.0, None, 0.1), 2, True),
        ((1.0, None), 2, False),
        ((None, None), None, False),
    ],
)
def test_limits(rates: tuple[float | None, ...], limit: int | None, reached: bool) -> None:
    assert capability_limit(points(*rates), 0.2) == (limit, reached)
    assert capability_limit(points(*rates)[::-1], 0.2) == (limit, reached)


def half_after(*passed: int) -> tuple[bool, bool]:
    """Whether there is a curve, and whether it passes 50 % within what was tried, after ten cases each."""
    tally = CurveTally()
    for size, successes in enumerate(passed, 3):
        for number in range(10):
            tally.add(outcome(size, "passed" if number < successes else "failed", None, number))
    measured = tally.capability("r", "a", None, 0.2)
    if measured.half:
        assert measured.fit
        assert measured.half == measured.fit.half
    return bool(measured.fit), bool(measured.half)


def test_half_is_told_only_where_it_was_tried() -> None:
    assert half_after(10, 7, 1) == (True, True)
    assert half_after(10, 9, 8) == (True, False)
    assert half_after(3, 1, 0) == (True, False)
    assert half_after(10, 10, 10) == (False, False)
    assert half_after(5, 6, 7) == (False, False)


def test_it_can_be_written_down() -> None:
    tally = CurveTally()
    for each in outcomes(100, 3):
        tally.add(each)
    measured = tally.capability("r", "a", None, 0.2)
    assert msgspec.json.decode(msgspec.json.encode(measured), type=type(measured)) == measured


def test_the_limit_of_a_curve_with_gaps_is_that_of_the_fit() -> None:
    """An adaptive design leaves sizes out, and what was not tried must not count as passed."""
    tally = CurveTally()
    for actions, passed in ((4, 9), (9, 1)):
        for number in range(10):
            tally.add(outcome(actions, "passed" if number < passed else "failed"))
    plain = tally.capability("r", "a", None, 0.2)
    fitted = tally.capability("r", "a", None, 0.2, (2, 9))
    assert (plain.limit, plain.reached) == (4, True)
    assert fitted.fit
    edge = fitted.fit.half.at + fitted.fit.spread * log(0.8 / 0.2)  # where the curve is at 20 %
    assert (fitted.limit, fitted.reached) == (floor(edge), True)
    assert 4 < floor(edge) < 9
    assert tally.capability("r", "a", None, 0.0, (2, 9)).limit == 9
