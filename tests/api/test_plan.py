"""Testing an agent through the Python interface."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep.api import agents, plan
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.event import CaseFinished, Event, RunFinished, RunStarted
from misstep.core.transcript import Usage


def test_a_few_lines_of_python(tmp_path: Path) -> None:
    settings = misstep.Settings(agent="sim:perfect", count=10, store=str(tmp_path / "store.db"))
    summary = misstep.run_agent(settings)
    assert (summary.passed, summary.cases) == (10, 10)


def test_events_come_in_order(tmp_path: Path) -> None:
    events = list[Event]()
    settings = misstep.Settings(agent="sim:greedy", count=10, store=str(tmp_path / "store.db"))
    summary = plan.run_agent(settings, events.append)
    assert isinstance(events[0], RunStarted)
    assert (events[0].total, events[0].finished) == (10, 0)
    assert all(isinstance(event, CaseFinished) for event in events[1:-1])
    assert len(events) == 12
    assert events[-1] == RunFinished(summary.run, summary)


class Custom:
    """An agent made for a test."""

    name = "custom"

    def __init__(self, act: Any) -> None:
        self._act = act

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        result = self._act(toolbox)
        if asyncio.iscoroutine(result):
            result = await result
        return result or Answer("done", Usage(10, 3))


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """A run of five cases by an agent that does `act` with its toolbox."""

    def go(act: Any, **settings: Any) -> misstep.Summary:
        chosen = misstep.Settings(count=5, store=str(tmp_path / "store.db"), **settings)
        return misstep.run_agent(chosen, agent=Custom(act))

    return go


def test_tokens_are_counted(run: Any) -> None:
    assert run(lambda toolbox: None).tokens == Usage(50, 15)


def test_an_agent_that_raises_is_errored_and_the_run_goes_on(run: Any) -> None:
    def act(toolbox: Toolbox) -> None:
        raise ConnectionError("no route")

    summary = run(act)
    assert (summary.errored, summary.failed, summary.success, summary.chance) == (5, 0, None, None)


def test_an_endless_agent_runs_out_of_steps(run: Any) -> None:
    def act(toolbox: Toolbox) -> None:
        while True:
            toolbox.call(toolbox.tools[0].name, {})

    assert run(act, max_steps=7).errors["timeout"] == 5


def test_a_hanging_agent_runs_out_of_time(run: Any) -> None:
    assert run(lambda toolbox: asyncio.sleep(3600), timeout=0.05).errors["timeout"] == 5


def test_calls_that_don_t_fit(run: Any) -> None:
    assert run(lambda toolbox: toolbox.call("nonsense", {"a": 1}) and None).errors["act"] == 5


def test_what_has_no_number_of_actions(tmp_path: Path) -> None:
    with pytest.raises(misstep.UsageError, match="no agent was named"):
        misstep.run_agent(misstep.Settings(store=str(tmp_path / "store.db")))
    assert list(tmp_path.iterdir()) == []


def test_agents_by_name() -> None:
    assert agents.find_agent("sim:random", {}).name == "sim:random"
    for name in ("sim", "sim:", "random", "SIM:random", "../x.py:y"):
        with pytest.raises(misstep.UsageError, match="unknown agent"):
            agents.find_agent(name, {})
