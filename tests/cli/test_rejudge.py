"""Verdicts are made where an agent can't reach them, and those of a stored run can be checked."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from misstep.core.case import Case
from misstep.core.outcome import Call, Transcript
from misstep.planning.judging.check import check
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.runs.execution import JudgeProcess
from tests.conftest import Command

REPLACES_THE_JUDGE = """
import sys
from misstep.core.outcome import Verdict

def passed(case, transcript, parallel="ordered"):
    return Verdict(case.id, "passed")

def agent(request, tools):
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("misstep") and callable(getattr(module, "check", None)):
            module.check = passed
    {work}
    return "Done."
"""
CALLS_ALL = "[tool() for tool in sorted(tools, key=lambda tool: tool.name, reverse=True)]"
KILLS_THE_JUDGE = """
import os, signal
from pathlib import Path

def agent(request, tools):
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid() and b"misstep.runs.execution" in (stat.parent / "cmdline").read_bytes():
                os.kill(int(stat.parent.name), signal.SIGKILL)
        except OSError:
            pass
    return "Done."
"""

KILLS_EVERY_JUDGE = (
    KILLS_THE_JUDGE.replace("def agent(", "def kill(")
    + """
import threading, time

def keep_killing():
    while True:
        kill("", ())
        time.sleep(0.001)

def agent(request, tools):
    if not any(each.name == "killer" for each in threading.enumerate()):
        threading.Thread(target=keep_killing, name="killer", daemon=True).start()
    return "Done."
"""
)


def run(folder: Path, source: str) -> dict[str, int]:
    """The summary of a run of an agent, in a process of its own: agents like these spoil theirs."""
    (folder / "mine.py").write_text(source)
    options = [
        "--agent",
        "mine.py:agent",
        "--actions",
        "4",
        "--count",
        "10",
        "--jobs",
        "2",
        "--fail-on",
        "none",
    ]
    command = [sys.executable, "-m", "misstep", "plan", "test", *options, "--json", "--display", "none"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    summary: dict[str, int] = json.loads(done.stdout)
    return summary


@pytest.mark.full
def test_an_agent_that_replaces_the_judge_is_judged_all_the_same(tmp_path: Path) -> None:
    honest = run(tmp_path, f"def agent(request, tools):\n    {CALLS_ALL}\n    return 'Done.'\n")
    assert honest["failed"] > 5
    assert run(tmp_path, REPLACES_THE_JUDGE.format(work="pass"))["failed"] == 10
    assert run(tmp_path, REPLACES_THE_JUDGE.format(work=CALLS_ALL))["failed"] == honest["failed"]


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the agent finds the judge by /proc")
def test_an_agent_that_kills_the_judge_is_judged_all_the_same(tmp_path: Path) -> None:
    assert run(tmp_path, KILLS_THE_JUDGE)["failed"] == 10


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the agent finds the judge by /proc")
def test_an_agent_that_kills_every_judge_is_not_judged_and_ends_no_run(tmp_path: Path) -> None:
    summary = run(tmp_path, KILLS_EVERY_JUDGE)
    assert summary["passed"] == 0
    assert summary["errored"] > 0


def test_a_judge_that_ended_meanwhile_is_replaced_and_knows_all_cases() -> None:
    judge = JudgeProcess()
    try:
        cases = [make_case(Suite(low=3, high=5, seed=3), seed) for seed in range(6)]
        verdicts = [judge.expect(case) for case in cases]
        judge._process.kill()
        for case, decide in zip(cases, verdicts, strict=True):
            done = Transcript(case.id, tuple(Call(action.tool) for action in case.actions))
            assert decide(done, "ordered") == check(case, done)
    finally:
        judge.close()


def test_a_process_judges_as_we_do() -> None:
    judge = JudgeProcess()
    try:
        for seed in range(20):
            case: Case = make_case(Suite(low=3, high=5, seed=3), seed)
            tools = [action.tool for action in case.actions]
            for order in (tools, tools[::-1], tools[1:], []):
                done = Transcript(case.id, tuple(Call(tool) for tool in order))
                assert judge.expect(case)(done, "ordered") == check(case, done)
    finally:
        judge.close()


def test_a_stored_run_is_judged_again(misstep: Command, tmp_path: Path) -> None:
    misstep("plan", "test", "--agent", "sim:greedy", "--count", "20", "--display", "none")
    right = misstep("rejudge", "last")
    assert (right.code, right.out.split(" (")[0]) == (0, "20 of 20 verdicts confirmed")
    _turn_failures_into_passes(tmp_path / ".misstep" / "store.db")
    wrong = misstep("rejudge", "last", "--json")
    found = json.loads(wrong.out)
    assert wrong.code == 1
    assert len(found["differences"]) == 20 - found["confirmed"] > 0
    assert {each["stored"]["verdict"] for each in found["differences"]} == {"passed"}
    assert {each["judged"]["verdict"] for each in found["differences"]} == {"failed"}
    assert "order" in misstep("rejudge", "last").out


def _turn_failures_into_passes(path: Path) -> None:
    with closing(sqlite3.connect(path)) as store, store:
        rows = store.execute("SELECT outcome, document FROM records").fetchall()
        for number, document in rows:
            outcome = json.loads(document)
            outcome["verdict"] = {"case": outcome["case"]["id"], "verdict": "passed"}
            store.execute(
                "UPDATE records SET document = ? WHERE outcome = ?", (json.dumps(outcome).encode(), number)
            )


def test_runs_without_planning_verdicts_are_refused(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def double(n: int) -> int:\n    return 2 * n\n")
    misstep(
        "tool", "fuzz", "mine.py:double", "--calls-per-tool", "5", "--sandbox", "none", "--display", "none"
    )
    refused = misstep("rejudge", "last")
    assert refused.code == 2
    assert "has no planning cases" in refused.err
