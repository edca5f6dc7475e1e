"""How far agents that don't plan get on each family alone: chance, the order of the text, reading greedily."""

import asyncio

import pytest

from misstep.core.agent import Assignment
from misstep.core.case import Case, families_of
from misstep.core.constraint import FAMILIES, Family
from misstep.core.settings import Settings
from misstep.engine.recorder import Deadline
from misstep.planning.difficulty import baselines, parse_bounds
from misstep.planning.simulated.planners import simulated_agent
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.runs.execution import judge, record

CASES = 120
# Three actions leave announcements and budgets little to decide: half of all plans are right at least.
MOST_CHANCE = {"dynamic": 0.42, "budget": 0.35}


def _cases(family: Family, **given: object) -> list[Case]:
    suite = Suite(seed=11, low=3, high=5, families=(family,), **given)  # type: ignore[arg-type]
    return [make_case(suite, index) for index in range(CASES)]


@pytest.mark.full(after=3)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_alone_is_not_passed_by_guessing_or_by_following_the_text(family: Family) -> None:
    cases = _cases(family)
    found = [baselines(case) for case in cases]
    assert sum(case.chance or 0.0 for case in cases) / CASES <= MOST_CHANCE.get(family, 0.3)
    assert sum(each.text_order for each in found) / CASES <= 0.3
    assert sum(each.ignores_family for each in found) / CASES <= 0.3


@pytest.mark.full(after=2)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_low_chance_level_can_be_asked_for_in_every_family(family: Family) -> None:
    bounds = parse_bounds(["chance<=0.3"])
    cases = _cases(family, difficulty=bounds)
    assert all(case.chance is not None and case.chance <= 0.3 for case in cases)
    assert all(family in families_of(case) for case in cases)


@pytest.mark.parametrize("family", ["choice", "budget"])
def test_reading_from_left_to_right_is_not_enough(family: Family) -> None:
    passed = sum(_passes(case, "greedy") for case in _cases(family))
    assert passed / CASES <= 0.5


@pytest.mark.full(after=1)
@pytest.mark.parametrize("family", FAMILIES)
def test_whoever_does_everything_right_passes(family: Family) -> None:
    assert all(_passes(case, "perfect") for case in _cases(family))


def test_announcements_come_several_to_a_case_and_are_broken_by_the_order_of_the_text() -> None:
    cases = [case for case in _cases("dynamic") if case.world.announcements]
    assert len(cases) > 0.8 * CASES
    assert sum(len(case.world.announcements) > 1 for case in cases) > 0.9 * len(cases)
    assert sum(baselines(case).text_order for case in cases) <= 0.25 * len(cases)


def _passes(case: Case, kind: str) -> bool:
    recorder = record(case, Settings(), Deadline(60))
    agent = simulated_agent(kind, {})
    answer = asyncio.run(agent.run(Assignment(case.query, case.seed), recorder))
    outcome = judge(case, Settings(), recorder.transcript(case.id, answer, None), 0.0)
    return outcome.verdict.verdict == "passed"
