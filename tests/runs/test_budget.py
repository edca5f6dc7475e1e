"""Budgets: a run stops before it has used more than it may, keeps what it has, and goes on with more."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.event import CaseFinished, Event, RunStopped
from misstep.core.outcome import Usage
from misstep.core.settings import Settings, Span
from misstep.errors import BudgetExceeded, UsageError
from misstep.features.plan_test.run import resume_run, run_agent
from misstep.store.runs import Store

TOKENS = Usage(900, 100)
STORE = Settings().store


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Model:
    """An agent that calls every tool in turn, and uses so many tokens for it."""

    name = "thinker"

    def __init__(self, usage: Callable[[int], Usage] = lambda _: TOKENS, pause: float = 0.0) -> None:
        self._usage = usage
        self._pause = pause
        self.begun = 0

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        self.begun += 1
        number = self.begun
        for tool in toolbox.tools:
            await asyncio.sleep(self._pause)
            toolbox.call(tool.name, {})
        toolbox.spend(self._usage(number))
        await asyncio.sleep(0)
        return Answer("done")


def settings(**more: Any) -> Settings:
    known = {"model": "openai/gpt-4o", "count": 30, "actions": Span(4, 4)}
    return Settings().overlay({**known, **more})


def stop(chosen: Settings, agent: Model) -> tuple[str, str]:
    """The id of a run that ran out of something, and what it said."""
    events = list[Event]()
    with pytest.raises(BudgetExceeded) as error:
        run_agent(chosen, events.append, agent=agent)
    assert isinstance(events[-1], RunStopped)
    assert error.value.exit_code == 3
    return events[-1].run, str(error.value)


# gpt-4o costs 2.50 and 10 dollars a million: 0.00325 for 900 and 100 tokens.
@pytest.mark.parametrize(
    ("budget", "cases", "used"),
    [
        ({"budget_tokens": 10_999}, 10, "10,000 of 10,999 tokens"),
        ({"budget_tokens": 11_000}, 11, "11,000 of 11,000 tokens"),
        ({"budget_usd": 0.0333}, 10, "0.0325 of 0.0333 USD"),
        ({"budget_calls": 43}, 10, "40 of 43 calls"),
        ({"budget_calls": 44}, 11, "44 of 44 calls"),
    ],
)
@pytest.mark.parametrize("jobs", [1, 8])
def test_a_run_stops_before_it_has_used_too_much(
    budget: dict[str, Any], cases: int, used: str, jobs: int
) -> None:
    agent = Model()
    run, said = stop(settings(jobs=jobs, **budget), agent)
    flag = f"--{next(iter(budget)).replace('_', '-')}"
    assert said.splitlines() == [
        f"the budget does not allow another case after {cases} of 30 cases: {used} used",
        f"  show results: misstep show {run}",
        f"  resume with: misstep plan test --resume {run} {flag} MORE",
    ]
    assert agent.begun == cases
    with Store(STORE) as store:
        assert store.find_run(run).done == cases
        assert store.spent(run).tokens == 1000 * cases


def test_it_goes_on_with_a_larger_budget_and_ends_like_one_that_never_stopped() -> None:
    chosen = settings(budget_tokens=7_500)
    run, _ = stop(chosen, Model())
    again = chosen.overlay({"resume": run})
    with pytest.raises(BudgetExceeded, match="after 7 of 30 cases"):
        resume_run(again.overlay({"budget_tokens": None}), agent=Model())
    with pytest.raises(BudgetExceeded, match="after 12 of 30 cases"):
        resume_run(again.overlay({"budget_tokens": 12_000}), agent=Model())
    whole = run_agent(settings(), agent=Model())
    resumed = resume_run(again.overlay({"budget_tokens": 1_000_000}), agent=Model())
    assert _comparable(resumed) == _comparable(whole)


def _comparable(summary: Any) -> dict[str, Any]:
    return {
        key: value for key, value in msgspec.to_builtins(summary).items() if key not in ("run", "seconds")
    }


def test_a_case_that_overdraws_the_budget_is_cut_short_with_all_the_others() -> None:
    """Nothing announced it; yet no more is used than what was asked for at that moment."""
    agent = Model(lambda number: TOKENS if number < 5 else Usage(50_000, 0))
    run, said = stop(settings(jobs=1, budget_tokens=20_000), agent)
    assert "after 4 of 30 cases: 54,000 of 20,000 tokens used" in said
    assert agent.begun == 5
    with Store(STORE) as store:
        assert store.find_run(run).done == 4
        assert store.spent(run).tokens == 54_000


@pytest.mark.parametrize("jobs", [2, 4, 8])
def test_what_had_finished_when_the_budget_was_overdrawn_is_kept_told_and_counted(jobs: int) -> None:
    """Some cases are about to be kept when the eighth, beside them, uses more than there is."""
    events = list[Event]()
    agent = Model(lambda number: TOKENS if number < 8 else Usage(50_000, 0))
    with pytest.raises(BudgetExceeded) as error:
        run_agent(settings(count=8, jobs=jobs, budget_tokens=20_000), events.append, agent=agent)
    told = sum(isinstance(event, CaseFinished) for event in events)
    assert 1 <= told <= 7
    assert f"after {told} of 8 cases: 57,000 of 20,000 tokens" in str(error.value)
    with Store(STORE) as store:
        assert store.list_runs()[0].done == told


def test_a_larger_budget_is_the_runs_own_from_then_on() -> None:
    chosen = settings(budget_tokens=5_000)
    run, _ = stop(chosen, Model())
    again = settings(resume=run)
    with pytest.raises(BudgetExceeded, match="12,000 of 12,000 tokens"):
        resume_run(again.overlay({"budget_tokens": 12_000}), agent=Model())
    with pytest.raises(BudgetExceeded, match="12,000 of 12,000 tokens"):
        resume_run(again, agent=Model())


def test_a_resumed_run_remembers_its_dearest_case() -> None:
    agent = Model(lambda number: Usage(8_000, 0) if number == 2 else TOKENS)
    run, _ = stop(settings(jobs=1, budget_tokens=20_000), agent)
    with pytest.raises(BudgetExceeded, match=r"after 6 of 30 cases: 13,000 of 20,500 tokens"):
        resume_run(settings(resume=run, budget_tokens=20_500), agent=Model())


def test_what_cut_short_cases_have_cost_counts_when_the_run_goes_on() -> None:
    agent = Model(lambda number: TOKENS if number != 5 else Usage(50_000, 0))
    chosen = settings(jobs=1, budget_tokens=20_000)
    run, _ = stop(chosen, agent)
    with pytest.raises(BudgetExceeded, match=r"after 8 of 30 cases: 58,000 of 58,500 tokens"):
        resume_run(chosen.overlay({"resume": run, "budget_tokens": 58_500}), agent=Model())


def test_a_run_that_hangs_ends_when_its_time_is_up() -> None:
    _, said = stop(settings(budget_time=0.3), Model(pause=3600))
    assert "after 0 of 30 cases" in said
    assert "seconds used" in said
    assert "--budget-time MORE" in said


def test_a_budget_that_is_just_enough_is_enough() -> None:
    summary = run_agent(settings(count=10, budget_tokens=10_000, budget_calls=40), agent=Model())
    assert summary.cases == 10


@pytest.mark.parametrize("name", ["budget_usd", "budget_tokens"])
def test_a_budget_of_tokens_needs_an_agent_that_shows_them(name: str) -> None:
    agent = Model(lambda _: Usage())
    agent.name = "agent.py:secretive"
    with pytest.raises(UsageError, match="does not report its tokens"):
        run_agent(settings(**{name: 1000}), agent=agent)
