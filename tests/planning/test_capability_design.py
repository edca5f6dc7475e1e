"""Which cases are asked for, and when it is enough."""

from collections.abc import Callable, Sequence
from itertools import combinations

import pytest

from misstep.core.case import Case
from misstep.core.outcome import Judgement, Outcome, Transcript, Verdict
from misstep.core.rng import derive_seed
from misstep.core.run import Inquiry
from misstep.planning.capability import (
    Design,
    adaptive_design,
    adaptive_steps,
    full_design,
    full_steps,
    full_width,
)
from misstep.planning.curve_fitting import Count, fit_logistic
from misstep.planning.synthesis.suite import Suite, make_case
from tests.planning.capability_agents import Agent, capable, draws, drive

SUITE = Suite(seed=5, low=3, high=5)
SMALL = Design(2, 6, per_pair=2, most=12)


def run(inquiry: Inquiry[None], judge: Callable[[Case], Judgement]) -> list[list[Case]]:
    """The batches that were asked for."""
    batches = list[list[Case]]()
    try:
        cases = next(inquiry)
        while True:
            batches.append(list(cases))
            verdicts = [Verdict(case.id, judge(case)) for case in cases]
            cases = inquiry.send(
                [Outcome(c, Transcript(c.id, ()), v) for c, v in zip(cases, verdicts, strict=True)]
            )
    except StopIteration:
        return batches


def up_to(most: int) -> Callable[[Case], Judgement]:
    return lambda case: "passed" if len(case.actions) <= most else "failed"


def sizes(batches: Sequence[Sequence[Case]]) -> list[tuple[int, int]]:
    assert all(len({len(case.actions) for case in batch}) == 1 for batch in batches)
    return [(len(batch[0].actions), len(batch)) for batch in batches]


def test_as_many_cases_as_there_are_pairs() -> None:
    design = Design(2, 9)
    pairs = {size: len(list(combinations(range(size), 2))) for size in design.sizes}
    assert [design.cases_at(size) for size in design.sizes] == [min(300, 20 * pairs[n]) for n in range(2, 10)]
    assert sum(map(design.cases_at, design.sizes)) == 1600


def test_the_full_design_stops_under_the_threshold() -> None:
    assert sizes(run(full_design(SUITE, SMALL), up_to(9))) == [(2, 2), (3, 6), (4, 12), (5, 12), (6, 12)]
    assert sizes(run(full_design(SUITE, SMALL), up_to(3))) == [(2, 2), (3, 6), (4, 12)]
    assert sizes(run(full_design(SUITE, SMALL), up_to(1))) == [(2, 2)]
    unstopped = Design(2, 6, per_pair=2, most=12, stop=False)
    assert len(run(full_design(SUITE, unstopped), up_to(1))) == 5


@pytest.mark.parametrize(("passed", "goes_on"), [(1, False), (2, True)])
def test_the_threshold_itself_is_not_under_it(passed: int, goes_on: bool) -> None:
    steps = full_steps(Design(5, 6, per_pair=1))
    assert next(steps) == (5, 10)
    if goes_on:
        assert steps.send((passed, 10)) == (6, 15)
    else:
        with pytest.raises(StopIteration):
            steps.send((passed, 10))


def test_what_was_not_judged_does_not_count() -> None:
    steps = full_steps(Design(5, 6, per_pair=1))
    next(steps)
    assert steps.send((2, 8)) == (6, 15)
    assert len(run(full_design(SUITE, SMALL), lambda _: "errored")) == 5


def test_cases_depend_on_the_seed_and_their_number_alone() -> None:
    (twos, threes, *_) = run(full_design(SUITE, SMALL), up_to(9))
    part = Suite(seed=derive_seed(5, "capability", 3), low=3, high=3)
    assert threes == [make_case(part, index) for index in range(6)]
    assert len({case.id for case in (*twos, *threes)}) == 8


def test_two_agents_get_the_same_cases_whatever_the_design() -> None:
    def by_size(batches: list[list[Case]]) -> dict[int, list[Case]]:
        found = dict[int, list[Case]]()
        for batch in batches:
            found.setdefault(len(batch[0].actions), []).extend(batch)
        return found

    judge = up_to(4)
    full = by_size(run(full_design(SUITE, Design(2, 7, per_pair=4)), judge))
    adaptive = by_size(run(adaptive_design(SUITE, Design(2, 7, per_pair=4), batch=3), judge))
    assert len(adaptive) > 1
    for size in full.keys() & adaptive.keys():
        shared = min(len(full[size]), len(adaptive[size]))
        assert shared
        assert full[size][:shared] == adaptive[size][:shared]


def test_the_same_outcomes_lead_to_the_same_questions() -> None:
    first, second = (run(adaptive_design(SUITE, SMALL, batch=4), up_to(4)) for _ in range(2))
    assert first == second


def width(counts: Sequence[Count]) -> float:
    fit = fit_logistic(counts)
    assert fit is not None
    low, high = fit.half.interval
    assert low is not None
    assert high is not None
    return high - low


@pytest.mark.parametrize("wanted", [1.0, 0.5, 0.3])
def test_it_asks_until_the_interval_is_narrow(wanted: float) -> None:
    asked, counts = drive(adaptive_steps(Design(2, 9, width=wanted), 10), capable(6.2, 0.8, 4))
    assert 0.5 * wanted < width(counts) <= 1.01 * wanted
    assert asked < 900


@pytest.mark.full
@pytest.mark.parametrize(("half", "spread"), [(3.4, 0.5), (6.2, 0.8), (7.5, 1.0)])
def test_without_a_width_it_is_that_of_the_full_design(half: float, spread: float) -> None:
    design = Design(2, 9)
    widths = [width(drive(full_steps(design), capable(half, spread, seed))[1]) for seed in range(30)]
    expected = full_width(design, half, spread)
    assert expected == pytest.approx(sum(widths) / 30, rel=0.08)
    reached = [width(drive(adaptive_steps(design, 20), capable(half, spread, seed))[1]) for seed in range(6)]
    assert sum(reached) / 6 == pytest.approx(expected, rel=0.15)


def test_the_full_design_does_worse_where_cases_are_lost() -> None:
    whole, lossy = full_width(Design(2, 9), 6, 1), full_width(Design(2, 9), 6, 1, share=0.25)
    assert whole
    assert lossy == pytest.approx(2 * whole, rel=0.1)


@pytest.mark.parametrize("high", [9, 20])
def test_who_is_never_near_half_is_soon_left_alone(high: int) -> None:
    for rate, most in ((1.0, 40), (0.0, 40), (0.8, 150), (0.2, 150)):
        agent = draws(dict.fromkeys(range(2, high + 1), rate).__getitem__, 1)
        assert drive(adaptive_steps(Design(2, high), 10), agent)[0] <= most


def test_a_step_is_found_in_no_time() -> None:
    asked, counts = drive(adaptive_steps(Design(2, 20), 10), draws(lambda size: float(size <= 7), 1))
    assert asked < 150
    fit = fit_logistic(counts)
    assert fit
    assert fit.half.at == pytest.approx(7.5, abs=0.1)


def unjudged_beyond(most: int) -> Agent:
    return lambda size, count: (count, count) if size <= most else (0, 0)


def test_nothing_is_asked_for_ever() -> None:
    everything = 1600
    design = Design(2, 9, width=0.001)
    assert drive(adaptive_steps(design, 50), capable(6, 1, 1))[0] == everything
    assert drive(adaptive_steps(Design(2, 9), 50), draws(lambda _: 0.5, 3))[0] <= everything


def test_what_can_t_be_judged_is_not_asked_again_and_again() -> None:
    asked, counts = drive(adaptive_steps(Design(2, 9), 10), unjudged_beyond(0))
    assert asked == 8 * 2 * 10
    assert not any(judged for _, _, judged in counts)
    asked, counts = drive(adaptive_steps(Design(2, 9), 10), unjudged_beyond(5))
    assert asked < 150
    assert max(judged for _, _, judged in counts) <= 40


def test_lost_cases_do_not_make_it_insist() -> None:
    """Where half the cases are lost, the full design would do worse too."""
    agent = capable(6, 1, 2)
    asked, counts = drive(adaptive_steps(Design(2, 9), 20), lambda size, count: agent(size, count // 2))
    assert asked < 1300
    expected = full_width(Design(2, 9), 6, 1, share=0.5)
    assert expected
    assert width(counts) < 1.3 * expected
