"""Searches against brute force: every order of everything, judged by the reference."""

from math import isclose

import pytest

from misstep.core.case import Case
from misstep.core.constraint import Choice, Condition, StandIn
from misstep.planning.plans.demands import selections
from misstep.planning.plans.search import count_plans, find_plan, least_cost, nearest_plan, survey
from tests.planning.plans.problems import doable, is_correct, random_case

SEEDS = range(1500)


def ids(case: Case) -> list[str]:
    return [action.id for action in case.actions]


def roles(case: Case, tools: tuple[str, ...]) -> tuple[str, ...]:
    replaced = {c.by: c.action for c in case.constraints if isinstance(c, StandIn)}
    return tuple(replaced.get(tool, tool) for tool in tools)


@pytest.mark.full
def test_chance_is_the_share_of_all_that_can_be_done() -> None:
    solvable = 0
    for seed in SEEDS:
        case = random_case(seed)
        plans = list(doable(case))
        sizes = [len(plan) for plan in plans]
        correct = [plan for plan in plans if is_correct(case, plan)]
        # Every choice and branch is as likely as the others, whatever number of orders it has.
        ways = 1
        for c in case.constraints:
            ways *= len(c.options) if isinstance(c, Choice) else 2 if isinstance(c, Condition) else 1
        share = sum(1 / sum(set(other) == set(plan) for other in plans) for plan in correct) / ways
        found = survey(ids(case), case.constraints, case.world)
        assert isclose(found.chance, share, abs_tol=1e-12), (seed, sizes, found, correct[:3])
        assert bool(found.witness) == bool(correct)
        solvable += bool(correct)
        if correct:
            assert is_correct(case, roles(case, found.witness)), seed
    assert 0.3 * len(SEEDS) < solvable < len(SEEDS)


def test_the_nearest_plan_is_correct_and_nothing_correct_is_nearer() -> None:
    for seed in range(300):
        case = random_case(seed)
        plans = list(doable(case))
        correct = [plan for plan in plans if is_correct(case, plan)]
        wished = plans[seed % len(plans)]
        nearest = roles(case, nearest_plan(ids(case), case.constraints, case.world, wished))
        assert bool(nearest) == bool(correct)
        if correct:
            assert nearest in correct
            best = min(distance(wished, plan) for plan in correct)
            assert distance(wished, nearest) == best, (seed, wished, nearest)


def test_the_least_cost_is_that_of_the_cheapest_correct_plan() -> None:
    for seed in range(400):
        case = random_case(seed)
        replaced = {c.action: c.by for c in case.constraints if isinstance(c, StandIn)}
        tools = [
            [replaced[role] if role in case.world.broken and role in replaced else role for role in plan]
            for plan in doable(case)
            if is_correct(case, plan)
        ]
        costs = [sum(case.world.costs.get(tool, 0) for tool in used) for used in tools]
        assert least_cost(ids(case), case.constraints, case.world) == min(costs, default=None), seed


def distance(wished: tuple[str, ...], plan: tuple[str, ...]) -> tuple[int, int]:
    """How much was added or left out, then how many pairs are swapped; an action's times are kept apart."""
    one, other = numbered(wished), numbered(plan)
    common = [unit for unit in one if unit in other]
    swapped = sum(
        other.index(common[i]) > other.index(common[j])
        for i in range(len(common))
        for j in range(i + 1, len(common))
    )
    return len(one) + len(other) - 2 * len(common), swapped


def numbered(plan: tuple[str, ...]) -> list[tuple[str, int]]:
    return [(action, plan[:place].count(action)) for place, action in enumerate(plan)]


@pytest.mark.parametrize("seed", range(40))
def test_ranks_decide_which_plan_is_found(seed: int) -> None:
    case = random_case(seed)
    for demands in selections(ids(case), case.constraints, case.world):
        ranked = find_plan(demands, ranked=range(demands.size - 1, -1, -1))
        assert (ranked is None) == (count_plans(demands) == 0)
