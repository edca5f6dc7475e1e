"""Runs on the benchmark of files, from settings to the store."""

from pathlib import Path
from typing import Any

import pytest

from misstep.benchmarks.files.suite import FreshTasks, build, judge_files, public_tasks, world_of
from misstep.benchmarks.tree import File
from misstep.core.event import Event, ItemStarted, RunFinished, RunStarted, Spending, TaskJudged
from misstep.core.results.benchmark import TaskReport
from misstep.core.settings import Settings
from misstep.core.spending import Budget, Spent
from misstep.errors import BudgetExceeded, UsageError
from misstep.features.bench.attempts import Attempts
from misstep.features.bench.environments import MANNERS, EnvPool
from misstep.features.bench.run import find_task, replay_task, run_benchmark, view_benchmark
from misstep.features.bench.suites import FILE_TOOLS, FileBenchmark
from misstep.features.bench.view import spent_in_words
from misstep.runs.budget import RunBudget
from misstep.runs.lookup import list_runs
from tests.features.bench.run.few_tasks import by_the_book, first_tasks, model, run, settings_in, verdicts
from tests.scripted import Call, Script, calling
from tests.tool_host.trying import needs_bubblewrap


@pytest.mark.full
@needs_bubblewrap
def test_the_right_agent_passes_the_whole_suite(tmp_path: Path) -> None:
    report = run(tmp_path, sandbox="bubblewrap", split="all", kinds=(), count=None, jobs=2)
    assert [task.name for task in report.tasks if task.verdict != "passed"] == []
    assert (len(report.tasks), report.rate.rate, report.rate.errored) == (294, 1.0, 0)
    assert set(report.by_split) == {"validation", "test"}
    assert min(rate.passed for rate in report.by_kind.values()) >= 24
    assert len(report.by_domain) == 42


@pytest.mark.full
@pytest.mark.parametrize("manner", ["idle", "damage"])
def test_who_does_nothing_or_damage_fails_everything(tmp_path: Path, manner: str) -> None:
    report = run(tmp_path, agent=f"sim:{manner}", kinds=(), count=24, split="test")
    assert verdicts(report) == ["failed"] * 24
    assert all(task.why for task in report.tasks)
    assert (report.calls > 0) is (manner == "damage")


def test_damage_is_of_several_sorts_and_always_some() -> None:
    tasks = public_tasks()
    damage = [FileBenchmark(tasks).solve(task).damage for task in tasks]
    for task, step in zip(tasks, damage, strict=True):
        world, path = world_of(task), step.arguments["path"]
        spoilt = {**world.expected, path: File(step.arguments.get("text", "").encode())}
        if step.tool == "delete":
            del spoilt[path]
        verdict, why = judge_files(task, spoilt, world.answer.text if world.answer else "")
        assert (verdict, len(why)) == ("failed", 1)
    assert {step.tool for step in damage} == {"delete", "write_file"}
    assert 0.2 < [step.tool for step in damage].count("delete") / len(damage) < 0.5


def test_tasks_that_are_asked_for_in_the_same_words_are_told_apart(tmp_path: Path) -> None:
    tasks = FreshTasks(5, 60)
    requests = [task.request for task in tasks]
    alike = FileBenchmark([task for task in tasks if requests.count(task.request) > 1])
    assert len(alike.tasks) > 1
    settings, made = settings_in(tmp_path), list[TaskReport]()
    with EnvPool(alike, [FILE_TOOLS["plain"]], settings) as pool:
        Attempts(
            pool,
            settings,
            RunBudget(Budget(), Spent()),
            list(enumerate(alike.tasks)),
        ).work(made.append)
    assert [report.verdict for report in made] == ["passed"] * len(alike.tasks)


def spoilt_once(request: str, tools: list[str]) -> list[Call]:
    """Does everything right but for the second task."""
    calls = list(by_the_book(request, tools))
    return (
        calls
        if first_tasks()[1].request not in request
        else [*calls, calling("write_file", path="x", text="")]
    )


def test_a_model_behind_a_server_does_some_right_and_some_wrong(tmp_path: Path) -> None:
    events = list[Event]()
    report = run(tmp_path, script=model(spoilt_once), listener=events.append)
    assert verdicts(report) == ["passed", "failed", "passed"]
    wrong = report.tasks[1]
    assert wrong.why == ("unexpected: x",)
    assert wrong.trial is not None
    assert [use.tool for use in wrong.trial.uses][-1] == "write_file"
    assert wrong.usage["agent"].output > 0
    started = [event.name for event in events if isinstance(event, ItemStarted)]
    assert sorted(started) == sorted(task.name for task in report.tasks)
    told = [type(event) for event in events if not isinstance(event, Spending | ItemStarted)]
    assert told == [RunStarted, *[TaskJudged] * 3, RunFinished]
    settings = settings_in(tmp_path)
    assert view_benchmark(settings, "last") == report
    (listed,) = list_runs(settings)[0]
    assert listed.run.summary is not None
    assert (listed.run.summary.passed, listed.run.summary.calls) == (2, report.calls)
    assert find_task(settings, "last", wrong.name[:6])[1] == wrong
    with pytest.raises(UsageError, match="'zz' is not a task of run"):
        find_task(settings, "last", "zz")


def test_what_a_run_has_cost_is_told_where_it_is_known(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[openai]\n"x" = [1.0, 4.0]\n')
    priced = run(tmp_path, script=model(), count=1, model="openai/x", prices=str(prices))
    used = priced.usage["agent"]
    assert priced.usd == pytest.approx((used.input + 4 * used.output) / 10**6, abs=1e-6)
    assert priced.usd > 0
    assert f"{priced.usd:.4f} USD" in spent_in_words(priced)
    unknown = run(tmp_path, script=model(), count=1)
    assert (unknown.usd, unknown.usage["agent"].output > 0) == (None, True)
    assert "USD" not in spent_in_words(unknown)
    assert run(tmp_path, count=1).usd == 0, "nobody has been asked"


def test_several_at_a_time_come_to_the_same(tmp_path: Path) -> None:
    report = run(tmp_path, script=model(spoilt_once), jobs=3)
    assert verdicts(report) == ["passed", "failed", "passed"]
    assert [task.name for task in report.tasks] == [task.id for task in first_tasks()]


@pytest.mark.parametrize("manner", MANNERS)
def test_a_task_is_put_to_the_agent_once_more(tmp_path: Path, manner: str) -> None:
    report = run(tmp_path, agent=f"sim:{manner}", count=1)
    before, after = replay_task(settings_in(tmp_path, agent=""), "last", report.tasks[0].name)
    assert before == report.tasks[0]
    assert (after.name, after.verdict, after.why) == (before.name, before.verdict, before.why)


ROWDY = """
import os

def look() -> str:
    '''List what is here.'''
    return " ".join(sorted(os.listdir()))

def die() -> str:
    '''End.'''
    os._exit(3)

def crash() -> str:
    '''Break.'''
    raise ValueError("\\x1b[31mno")

tools = [look, die, crash]
"""


def test_a_tool_that_kills_its_process_is_there_again_and_so_are_the_files(tmp_path: Path) -> None:
    (tmp_path / "rowdy.py").write_text(ROWDY)
    plan = Script(plan=lambda *_: [Call("look"), Call("die"), Call("crash"), Call("look")], answer="Done.")
    (task,) = run(tmp_path, f"{tmp_path}/rowdy.py:tools", script=plan, count=1).tasks
    assert task.trial is not None
    first, died, broken, last = [use.result for use in task.trial.uses]
    assert first == last != ""
    assert "it exited with status 3" in died
    assert "ValueError" in broken
    assert task.verdict == "failed"


@pytest.mark.parametrize(
    ("spec", "source", "why"),
    [
        ("broken.py:tools", "import nowhere_at_all", "nowhere_at_all"),
        ("broken.py:gone", "tool = 1", "gone"),
        ("missing.py:tools", "", "missing.py"),
    ],
)
def test_tools_that_can_not_be_had(tmp_path: Path, spec: str, source: str, why: str) -> None:
    (tmp_path / "broken.py").write_text(source)
    with pytest.raises(UsageError) as refused:
        run(tmp_path, f"{tmp_path}/{spec}", agent="sim:idle")
    assert why in str(refused.value)
    assert not (tmp_path / "store.db").exists()


@pytest.mark.parametrize(
    ("tools", "more", "why"),
    [
        (("plane",), {}, "unknown tools 'plane'"),
        (("plain", "misstep.benchmarks.files.tools:list_folder"), {}, "there are two tools 'list_folder'"),
        (("shell",), {}, "sim:right needs a tool 'find_files'"),
        ((), {"agent": "sim:rigth"}, "Did you mean 'sim:right'?"),
        ((), {"agent": ""}, "no agent given"),
        ((), {"agent": "tools"}, "no model given"),
        ((), {"kinds": ("mvoe",)}, "Did you mean 'move'?"),
        ((), {"domains": ("Wizard",)}, "there is no domain 'Wizard'"),
        ((), {"data": "nowhere"}, "can't be read as a folder: No such file"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_done(
    tmp_path: Path, tools: tuple[str, ...], more: dict[str, Any], why: str
) -> None:
    with pytest.raises(UsageError) as refused:
        run(tmp_path, *tools, **more)
    assert why in str(refused.value)
    assert not (tmp_path / "store.db").exists()


def test_which_tasks_are_meant(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, kinds=("find",), domains=("accountant",), split="all", count=None)
    report = run_benchmark("files", settings, ())
    assert {(task.kind, task.domain) for task in report.tasks} == {("find", "Accountant")}
    assert verdicts(report) == ["passed"] * len(report.tasks)
    assert Settings().split == "test"


def test_fresh_tasks_of_a_kind_are_as_many_as_are_wanted_and_can_be_replayed(tmp_path: Path) -> None:
    report = run(tmp_path, split="fresh", seed=3, kinds=("Count",), count=4)
    assert [(task.kind, task.split, task.verdict) for task in report.tasks] == [
        ("count", "fresh", "passed")
    ] * 4
    last = report.tasks[-1]
    assert replay_task(settings_in(tmp_path), "last", last.name)[1].verdict == "passed"


def test_a_task_is_made_when_its_turn_has_come(tmp_path: Path) -> None:
    build.cache_clear()
    with pytest.raises(BudgetExceeded):
        run(tmp_path, agent="sim:idle", split="fresh", kinds=(), count=9_999, budget_time=0.000001)
    assert build.cache_info().misses < 10
