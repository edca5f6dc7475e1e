"""Capability curves against the truth: agents whose 50 % point is known."""

import asyncio
from collections.abc import Sequence

import pytest

from misstep.core.agent import Assignment
from misstep.core.case import Case
from misstep.core.constraint import Family
from misstep.core.outcome import Outcome, Transcript
from misstep.core.results.capability import Capability, Half
from misstep.core.rng import derive_seed
from misstep.core.run import Inquiry
from misstep.planning.capability import (
    CurveTally,
    Design,
    adaptive_design,
    adaptive_steps,
    full_design,
    full_steps,
)
from misstep.planning.curve_fitting import Count, fit_logistic
from misstep.planning.judging.check import check
from misstep.planning.simulated.planners import simulated_agent
from misstep.planning.synthesis.suite import Suite, make_case
from tests.engine.conftest import record
from tests.planning.capability_agents import capable, drive

DESIGN = Design(2, 9)
AGENTS = [  # from the weak to the strong, from the steep to the flat
    *((3.0, 0.3), (4.2, 0.3), (6.2, 0.3), (7.0, 0.3)),
    *((3.5, 0.5), (5.0, 0.5), (6.5, 0.5), (8.5, 0.5)),
    *((3.0, 1.0), (5.5, 1.0), (7.0, 1.0), (8.5, 1.0)),
]


def half_of(counts: Sequence[Count]) -> Half:
    fit = fit_logistic(counts)
    assert fit is not None
    return fit.half


def holds(half: Half, truth: float) -> bool:
    low, high = half.interval
    return (low is None or low <= truth) and (high is None or truth <= high)


def width(half: Half) -> float:
    low, high = half.interval
    return float("inf") if low is None or high is None else high - low


@pytest.mark.full
def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    times, held = 150, list[int]()
    for half, spread in AGENTS:
        agent = capable(half, spread, 1)
        runs = [half_of(drive(full_steps(DESIGN), agent)[1]) for _ in range(times)]
        held.append(sum(holds(found, half) for found in runs))
    assert min(held) > 0.89 * times
    assert 0.935 < sum(held) / (times * len(AGENTS)) < 0.97


@pytest.mark.parametrize("spread", [0.02, 0.05, 0.1])
def test_nor_is_it_too_sure_of_a_step(spread: float) -> None:
    """Between two numbers of actions there is none that could be tried."""
    held = 0
    for number in range(60):
        half = 5.02 + 0.96 * number / 60
        held += holds(half_of(drive(full_steps(DESIGN), capable(half, spread, number))[1]), half)
    assert held >= 54


@pytest.mark.full
def test_asking_what_tells_most_takes_fewer_cases_for_the_same_interval() -> None:
    saved, widths, held = list[float](), list[float](), 0
    for half, spread in AGENTS:
        full, adaptive = capable(half, spread, 2), capable(half, spread, 3)
        fixed = [drive(full_steps(DESIGN), full) for _ in range(20)]
        chosen = [drive(adaptive_steps(DESIGN, 10), adaptive) for _ in range(2)]
        cases = sum(asked for asked, _ in fixed) / 20
        saved += [1 - asked / cases for asked, _ in chosen]
        usual = sum(width(half_of(counts)) for _, counts in fixed) / 20
        widths += [width(half_of(counts)) / usual for _, counts in chosen]
        held += sum(holds(half_of(counts), half) for _, counts in chosen)
    assert sum(saved) / len(saved) > 0.4
    assert sum(widths) / len(widths) < 1.03
    assert held >= len(saved) - 4


@pytest.mark.full
def test_the_interval_holds_the_truth_as_often_where_questions_were_chosen() -> None:
    times, held = 14, 0
    agents = AGENTS[1::4]
    for half, spread in agents:
        agent = capable(half, spread, 5)
        runs = [drive(adaptive_steps(DESIGN, 60), agent)[1] for _ in range(times)]
        held += sum(holds(half_of(counts), half) for counts in runs)
    assert held >= 0.88 * times * len(agents)


def carry_out(inquiry: Inquiry[None], kind: str, **options: str) -> tuple[list[Outcome], Capability]:
    """A simulated agent on all that an inquiry asks for."""
    agent, tally, told = simulated_agent(kind, options), CurveTally(), list[Outcome]()

    async def attempt(case: Case) -> Outcome:
        world = record(case)
        # The agent's dice must know nothing of those that the case was made with.
        await agent.run(Assignment(case.query, derive_seed(case.seed, "agent")), world)
        transcript = Transcript(case.id, world.calls)
        return Outcome(case, transcript, check(case, transcript))

    async def attempts() -> None:
        try:
            cases = next(inquiry)
            while True:
                outcomes = [await attempt(case) for case in cases]
                told.extend(outcomes)
                cases = inquiry.send(outcomes)
        except StopIteration:
            pass

    asyncio.run(attempts())
    for outcome in told:
        tally.add(outcome)
    return told, tally.capability("r", agent.name, None, 0.2)


LESS = Design(2, 8, per_pair=6, most=90)


@pytest.mark.full(after=1)
@pytest.mark.parametrize(("half", "spread"), [(3.4, 0.3), (4.5, 0.8), (6.2, 0.5)])
def test_an_agent_of_known_capacity_is_found_out(half: float, spread: float) -> None:
    for design in (full_design, adaptive_design):
        told, measured = carry_out(
            design(Suite(9, 2, 8), LESS), "capacity", half=str(half), spread=str(spread)
        )
        assert measured.half
        assert holds(measured.half, half)
        assert width(measured.half) < 1
        assert sum(point.cases for point in measured.curve) == len(told)
        within = [each for each in told if len(each.case.actions) <= (measured.limit or 0)]
        failed = [each for each in within if each.verdict.verdict == "failed"]
        assert measured.errors == {"timeout": 0, "act": 0, "lost": 0, "parameter": 0, "order": len(failed)}
        for point in measured.curve:
            here = [each.case.chance or 0 for each in told if len(each.case.actions) == point.actions]
            assert point.chance == pytest.approx(sum(here) / len(here), abs=1e-8)


def test_luck_gets_as_far_as_the_chance_level_says() -> None:
    told, measured = carry_out(full_design(Suite(4, 2, 5), Design(2, 5, stop=False)), "random")
    assert [point.actions for point in measured.curve] == [2, 3, 4, 5]
    for point in measured.curve:
        chances = [each.case.chance or 0 for each in told if len(each.case.actions) == point.actions]
        variance = sum(chance * (1 - chance) for chance in chances)
        assert abs(point.passed - sum(chances)) < 4 * variance**0.5 + 0.5
        assert point.chance is not None
        assert point.interval[0] - 0.03 < point.chance < point.interval[1] + 0.03


@pytest.mark.full(after=1)
@pytest.mark.parametrize("families", [("order",), ("order", "time"), ("order", "adjacent", "repeat")])
def test_what_it_gets_backwards_fails(families: tuple[Family, ...]) -> None:
    """Just those with more actions than it can take, however it is asked."""
    suite = Suite(3, 3, 7, families=families)
    for case in (make_case(suite, index) for index in range(150)):
        world, agent = record(case), simulated_agent("capacity", {"half": "5.5", "spread": "0.01"})
        asyncio.run(agent.run(Assignment(case.query, 1), world))
        verdict = check(case, Transcript(case.id, world.calls)).verdict
        assert (verdict == "failed") == (len(case.actions) > 5.5), case.query
