"""Budgets of runs on agents and of runs on tools end at the same amount."""

import pytest

from misstep.core.outcome import Usage
from misstep.core.spending import Budget, Cost, Spent
from misstep.engine.budget import BudgetTracker, CaseBudget
from misstep.runs.budget import RunBudget


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def price(role: str, usage: Usage) -> float:
    return float(usage.output)


def of_agent(budget: Budget) -> BudgetTracker:
    return CaseBudget(budget, price, Spent(), Cost(), Clock())


def of_tools(budget: Budget) -> BudgetTracker:
    return RunBudget(budget, Spent(), price, Clock())


@pytest.mark.parametrize("tracker", [of_agent, of_tools])
@pytest.mark.parametrize(("kind", "limit"), [("tokens", 10), ("usd", 10.0)])
def test_all_of_a_budget_may_be_used_and_no_more(tracker, kind: str, limit: float) -> None:
    run = tracker(Budget(**{kind: limit}))
    run.spend("agent", Usage(0, 10))
    assert (run.is_over(), run.lacking) == (False, "")
    run.spend("agent", Usage(0, 1))
    assert (run.is_over(), run.lacking) == (True, kind)


@pytest.mark.parametrize("tracker", [of_agent, of_tools])
def test_all_calls_of_a_budget_may_be_made_and_no_more(tracker) -> None:
    run = tracker(Budget(calls=2))
    run.call()
    run.call()
    assert run.lacking == ""
    assert run.reserve_calls(1) == 0
    assert run.lacking == "calls"
    unasked = tracker(Budget(calls=2))
    for _ in range(3):
        unasked.call()
    assert unasked.lacking == "calls"


@pytest.mark.parametrize("tracker", [of_agent, of_tools])
def test_calls_made_elsewhere_are_counted_and_those_given_back_there_uncounted(tracker) -> None:
    run = tracker(Budget())
    run.call(7)
    run.call(-3)
    assert (run.spent.calls, run.lacking) == (4, "")


@pytest.mark.parametrize("kind", [CaseBudget, RunBudget])
def test_time_is_up_beyond_its_limit(kind: type) -> None:
    clock = Clock()
    arguments = (price, Spent(), Cost(), clock) if kind is CaseBudget else (Spent(), price, clock)
    run = kind(Budget(seconds=5.0), *arguments)
    clock.now = 5.0
    assert not run.is_over()
    clock.now = 5.1
    assert run.is_over()
    assert run.lacking == "seconds"
