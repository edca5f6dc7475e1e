"""Testing an agent through the Python interface."""

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.event import CaseFinished, Event, ItemStarted, RunFinished, RunStarted, Spending
from misstep.core.outcome import Usage
from misstep.core.results.summary import Summary
from misstep.features.plan_test.run import resume_run, run_agent
from misstep.runs.setup import agents
from misstep.store.runs import Store


def test_a_few_lines_of_python(tmp_path: Path) -> None:
    settings = misstep.Settings(agent="sim:perfect", count=10, store=str(tmp_path / "store.db"))
    summary = misstep.run_agent(settings)
    assert (summary.passed, summary.cases) == (10, 10)


def test_events_come_in_order(tmp_path: Path) -> None:
    events = list[Event]()
    settings = misstep.Settings(agent="sim:greedy", count=10, store=str(tmp_path / "store.db"))
    summary = run_agent(settings, events.append)
    assert isinstance(events[0], RunStarted)
    assert (events[0].total, sum(events[0].verdicts.values())) == (10, 0)
    told = [type(event) for event in events[1:-1]]
    assert [each for each in told if each is not ItemStarted] == [Spending, CaseFinished] * 10
    finished = list[str]()
    for event in events[1:-1]:  # each case starts once, before it finishes
        if isinstance(event, ItemStarted):
            assert event.name not in finished
        elif isinstance(event, CaseFinished):
            finished.append(event.outcome.case.id)
    assert sorted(finished) == sorted(event.name for event in events if isinstance(event, ItemStarted))
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
        toolbox.spend(Usage(10, 3))
        return result or Answer("done")


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """A run of five cases by an agent that does `act` with its toolbox."""

    def go(act: Any, **settings: Any) -> Summary:
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


class Liar:
    """Claims to be empty, which must not make it vanish."""

    name = "liar"

    def __len__(self) -> int:
        return 0

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        return Answer("done")


def test_an_agent_that_looks_empty(tmp_path: Path) -> None:
    summary = misstep.run_agent(misstep.Settings(count=2, store=str(tmp_path / "s.db")), agent=Liar())
    assert (summary.agent, summary.errors["lost"]) == ("liar", 2)


def raise_it(error: BaseException) -> Any:
    def act(toolbox: Toolbox) -> None:
        raise error

    return act


@pytest.mark.parametrize(
    "act",
    [
        raise_it(asyncio.CancelledError()),
        raise_it(SystemExit(0)),
        raise_it(ValueError("half \ud800")),
        lambda toolbox: "a text",
        lambda toolbox: Answer(text=None),  # type: ignore[arg-type]
        lambda toolbox: Answer(ended="done"),  # type: ignore[arg-type]
        lambda toolbox: toolbox.spend(None),  # type: ignore[arg-type]
    ],
    ids=["cancelled", "exit", "surrogate", "no answer", "no text", "unknown end", "no tokens"],
)
@pytest.mark.parametrize("jobs", [1, 8])
def test_whatever_an_agent_does_is_errored_and_stored(run: Any, tmp_path: Path, act: Any, jobs: int) -> None:
    assert run(act, jobs=jobs).errored == 5
    assert stored(tmp_path) == 5


def stored(folder: Path) -> int:
    with Store(str(folder / "store.db")) as store:
        return sum(1 for _ in store.outcomes(store.find_run("last").id))


deep: Any = []
for _ in range(3000):
    deep = [deep]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (None, {}),
        (7, {}),
        ("\ud800", {}),
        ("x", {"x": object()}),
        ("x", {(1, 2): 3}),
        ("x", deep),
        ("x", "\ud800"),
        ("x", float("nan")),
    ],
    ids=["none", "number", "surrogate", "object", "tuple key", "deep", "surrogate argument", "nan"],
)
def test_whatever_an_agent_calls_is_recorded(run: Any, tmp_path: Path, name: Any, arguments: Any) -> None:
    assert run(lambda toolbox: toolbox.call(name, arguments) and None).errors["act"] == 5
    assert stored(tmp_path) == 5


def test_arguments_are_what_they_were_when_the_call_was_made(run: Any) -> None:
    def act(toolbox: Toolbox) -> None:
        arguments: dict[str, Any] = {}
        for tool in toolbox.tools:
            toolbox.call(tool.name, arguments)
        arguments["late"] = True
        toolbox.tools[0].parameters["required"] = ["late"]

    assert run(act).errors["act"] == 0


def swallowing(toolbox: Toolbox) -> None:
    for tool in [*toolbox.tools, *toolbox.tools]:
        with suppress(Exception):
            toolbox.call(tool.name, {})


def test_the_limit_on_steps_can_t_be_swallowed(run: Any) -> None:
    assert run(swallowing, max_steps=3, actions=misstep.Span(3, 3)).errors["timeout"] == 5


def test_calls_within_one_turn_are_bounded(run: Any) -> None:
    def act(toolbox: Toolbox) -> None:
        while True:
            toolbox.call("x", {}, turn=1)

    assert run(act).errors["timeout"] == 5


def test_the_time_limit_can_t_be_swallowed(run: Any) -> None:
    async def wait(toolbox: Toolbox) -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)

    assert run(wait, timeout=0.05).errors["timeout"] == 5
    assert run(lambda toolbox: time.sleep(0.03), timeout=0.01).errors["timeout"] == 5


def test_parallel_calls_can_be_forbidden(run: Any) -> None:
    def act(toolbox: Toolbox) -> None:
        for tool in toolbox.tools:
            toolbox.call(tool.name, {}, turn=1)

    assert run(act).errors["act"] == 0
    assert run(act, parallel="forbid").errors["act"] == 5


def test_without_an_agent(tmp_path: Path) -> None:
    with pytest.raises(misstep.UsageError, match="no agent given"):
        misstep.run_agent(misstep.Settings(store=str(tmp_path / "store.db")))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"jobs": 0},
        {"count": 0},
        {"count": -5},
        {"seed": -1},
        {"topics": 7},
        {"parallel": "no"},
        {"agent": None},
        {"store": "a\0b"},
    ],
    ids=str,
)
def test_settings_from_python_are_checked(tmp_path: Path, wrong: dict[str, Any]) -> None:
    settings = misstep.Settings(**{"agent": "sim:perfect", "store": str(tmp_path / "s.db"), **wrong})
    with pytest.raises(misstep.UsageError, match=f"Settings.{next(iter(wrong))}"):
        misstep.run_agent(settings)
    assert list(tmp_path.iterdir()) == []


def test_settings_from_python_may_be_written_like_those_in_a_file(tmp_path: Path) -> None:
    settings = misstep.Settings(agent="sim:perfect", actions="3-4", count=2, store=tmp_path / "s.db")  # type: ignore[arg-type]
    assert misstep.run_agent(settings).passed == 2


def test_inside_a_running_loop(tmp_path: Path) -> None:
    async def main() -> None:
        misstep.run_agent(misstep.Settings(agent="sim:perfect", store=str(tmp_path / "s.db")))

    with pytest.raises(misstep.UsageError, match="running event loop"):
        asyncio.run(main())
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_an_agent_from_python_is_resumed_from_python(tmp_path: Path) -> None:
    with Store(str(tmp_path / "store.db"), create=True) as store:
        run = store.add_run(misstep.Settings(agent="custom", count=3), 3, 0.0).id
    settings = misstep.Settings(resume=run, store=str(tmp_path / "store.db"))
    assert resume_run(settings, agent=Custom(lambda toolbox: None)).errors["lost"] == 3


def test_agents_by_name() -> None:
    assert agents.find_agent(misstep.Settings(agent="sim:random")).name == "sim:random"
    for name in ("sim", "sim:", "random", "SIM", "react:"):
        with pytest.raises(misstep.UsageError, match="unknown agent"):
            agents.find_agent(misstep.Settings(agent=name))
    with pytest.raises(misstep.UsageError, match="no such file"):
        agents.find_agent(misstep.Settings(agent="../x.py:y"))
