"""Runs on benchmarks that are stopped, killed or starved, and go on."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from misstep.core.event import Event, TaskJudged
from misstep.core.model import ModelError
from misstep.core.results.benchmark import BenchmarkReport
from misstep.errors import BudgetExceeded, Interrupted, UsageError
from misstep.features.bench.run import resume_benchmark, run_benchmark, view_benchmark
from misstep.store.runs import Store
from tests.features.bench.run.few_tasks import (
    by_the_book,
    first_tasks,
    model,
    run,
    scripted,
    settings_in,
    solution_of,
    told_of,
    verdicts,
)
from tests.features.stdio_server import SPEAKING
from tests.scripted import Call, Fault, Script, ScriptedServer, calling

PER_TASK = [len(solution_of(task.request).steps) + 1 for task in first_tasks()]  # requests to the model


def resumed(folder: Path, **more: object) -> BenchmarkReport:
    means = {"retries": None, "time_per_request": None, **more}
    return resume_benchmark("files", settings_in(folder, resume="last", **means))


@pytest.mark.full
@pytest.mark.parametrize("what", ["calls", "tokens"])
def test_a_run_goes_on_after_its_budget(tmp_path: Path, what: str) -> None:
    whole = run(tmp_path, script=model())
    used = whole.tasks[0].usage["agent"]
    budget = {"calls": whole.calls - 1, "tokens": used.input + used.output + 1}[what]
    with ScriptedServer(model()) as server:
        settings = settings_in(tmp_path, **scripted(server), **{f"budget_{what}": budget})
        with pytest.raises(BudgetExceeded, match="the budget is exhausted") as spent:
            run_benchmark("files", settings, ())
        assert "misstep bench files --resume" in str(spent.value)
        before = view_benchmark(settings, "last")
        assert 0 < len(before.tasks) < 3
        report = resumed(tmp_path, **{f"budget_{what}": 10**9})
    assert told_of(report) == told_of(whole)
    assert report.tasks[: len(before.tasks)] == before.tasks
    assert resumed(tmp_path) == report  # it has finished


@pytest.mark.full
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on(tmp_path: Path, how: signal.Signals) -> None:
    whole = run(tmp_path, script=model())
    enough = PER_TASK[0] + 1  # into the second task, with calls made
    with ScriptedServer(model(faults=[*[None] * enough, Fault("hang")])) as server:
        settings = settings_in(tmp_path, **scripted(server))
        given = {
            "--agent": "tools",
            "--model": "x",
            "--model-base-url": server.base_url,
            "--kind": ",".join(settings.kinds),
            "--split": "validation",
            "--count": "3",
            "--jobs": "1",
            "--sandbox": "none",
            "--retries": "0",
            "--store": settings.store,
        }
        words = [word for pair in given.items() for word in pair]
        command = [sys.executable, "-m", "misstep", "bench", "files", *words]
        with subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            while len(server.model_requests) <= enough:
                assert process.poll() is None
                time.sleep(0.02)
            process.send_signal(how)
        killed = how == signal.SIGKILL
        assert process.returncode == (-how if killed else 130)
        with Store(settings.store) as store:
            assert store.died(store.find_run("last").id) is killed
        assert verdicts(view_benchmark(settings, "last")) == ["passed"]
        report = resumed(tmp_path)
    assert told_of(report) == told_of(whole)


def test_who_is_told_to_stop_stops(tmp_path: Path) -> None:
    def listener(event: Event) -> None:
        if isinstance(event, TaskJudged):
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted, match="was stopped"):
        run(tmp_path, listener=listener, count=8)
    assert 1 <= len(view_benchmark(settings_in(tmp_path), "last").tasks) < 8
    assert verdicts(resumed(tmp_path)) == ["passed"] * 8


def test_two_runs_at_once(tmp_path: Path) -> None:
    reports = list[BenchmarkReport]()
    threads = [
        threading.Thread(target=lambda agent: reports.append(run(tmp_path, agent=agent)), args=(agent,))
        for agent in ("sim:right", "sim:damage")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    by_verdict = {report.tasks[0].verdict: verdicts(report) for report in reports}
    assert by_verdict == {"passed": ["passed"] * 3, "failed": ["failed"] * 3}


@pytest.mark.parametrize("fault", ["401", "503"])
def test_an_outage_is_nobodys_failure_and_the_run_goes_on(tmp_path: Path, fault: str) -> None:
    faults = [*[None] * PER_TASK[0], Fault(fault)]  # type: ignore[arg-type]
    with ScriptedServer(model(faults=faults)) as server:
        settings = settings_in(tmp_path, **scripted(server))
        with pytest.raises(ModelError, match="model is unavailable") as broken:
            run_benchmark("files", settings, ())
        assert "resume with: misstep bench files --resume" in str(broken.value)
        assert verdicts(view_benchmark(settings, "last")) == ["passed"]
        assert verdicts(resumed(tmp_path)) == ["passed"] * 3


def test_a_model_that_can_not_be_understood_is_an_error_of_one_task(tmp_path: Path) -> None:
    faults = [*[None] * PER_TASK[0], Fault("400")]
    report = run(tmp_path, script=model(faults=faults))
    assert verdicts(report) == ["passed", "errored", "passed"]
    assert report.rate.rate == 1.0
    assert "400" in report.tasks[1].why[0]


def test_an_agent_that_breaks_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def agent(request, tools):\n    raise OSError('no way')\n")
    report = run(tmp_path, agent=f"{tmp_path}/mine.py:agent", count=1)
    assert verdicts(report) == ["errored"]
    assert "no way" in report.tasks[0].why[0]
    assert report.rate.rate is None


def test_an_agent_that_goes_round_in_circles_has_failed(tmp_path: Path) -> None:
    def circling(request: str, tools: list[str]) -> list[object]:
        return [*by_the_book(request, tools), *[calling("list_folder")] * 9]

    (task,) = run(tmp_path, script=model(circling), count=1, max_steps=PER_TASK[0] + 3).tasks  # type: ignore[arg-type]
    assert (task.verdict, task.why) == (
        "failed",
        (f"it did not finish within {PER_TASK[0] + 3} turns (--max-steps)",),
    )


def test_an_agent_that_never_comes_back_has_failed(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import asyncio\nasync def agent(request, tools):\n    await asyncio.sleep(600)\n"
    )
    (task,) = run(tmp_path, agent=f"{tmp_path}/mine.py:agent", count=1, time_per_request=0.2).tasks
    assert task.verdict == "failed"
    assert task.why[0] == "it did not finish within 0.2 s (--time-per-request)"
    assert len(task.why) > 1, "differences is told as well"


SERVER = """
import json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
LOOK = {"name": "look", "description": "Says what is here.", "inputSchema": {"type": "object", "properties": {}}}


def answer(method, parameters):
    if method == "tools/list":
        return {"tools": [LOOK]}
    if method != "tools/call":
        return {}
    if os.path.exists(f"{HERE}/doomed"):
        open(f"{HERE}/gone", "w").close()
        os._exit(3)
    return {"content": [{"type": "text", "text": " ".join(os.listdir("."))}]}
"""


@pytest.mark.full
def test_a_server_that_is_gone_for_good_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("misstep.tool_host.host.PAUSE", 0.01)
    (tmp_path / "served.py").write_text(SERVER + SPEAKING)
    (tmp_path / "doomed").touch()
    script = Script(plan=lambda *_: [Call("look"), Call("look")], answer="Done.")
    with ScriptedServer(script) as server:
        settings = settings_in(tmp_path, **scripted(server), count=2)
        with pytest.raises(UsageError, match="can't be reached") as lost:
            run_benchmark("files", settings, [f"mcp:{sys.executable} {tmp_path}/served.py"])
        assert "resume with: misstep bench files --resume" in str(lost.value)
        (tmp_path / "doomed").unlink()
        (tmp_path / "gone").unlink()
        assert [task.calls for task in resumed(tmp_path).tasks] == [2, 2]
