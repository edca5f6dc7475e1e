"""`misstep bench files` as it is typed."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.features.bench.run.few_tasks import KINDS, first_tasks, model
from tests.scripted import Fault, Script, ScriptedServer, calling
from tests.snapshots import check_snapshot

FEW = ("--split", "validation", "--kind", ",".join(KINDS), "--count", "3", "--sandbox", "none", "--jobs", "1")


def bench(misstep: Command, agent: str = "sim:right", *more: str) -> str:
    """The id of a stored run."""
    printed = misstep("bench", "files", "--agent", agent, *FEW, "--display", "none", "--json", *more)
    return str(json.loads(printed.out)["run"])


def test_a_run_is_shown_and_replayed(misstep: Command) -> None:
    printed = misstep("bench", "files", "--agent", "sim:damage", *FEW, "--display", "none")
    assert (printed.code, printed.err) == (1, "")
    tidy = "\n".join(line.rstrip() for line in printed.out.splitlines())
    assert "\nall                0   3  0.0 %   0.0 – 56.1 %           0\n" in tidy
    task = first_tasks(1)[0]
    assert f"failed  {task.id}  {task.kind}, {task.domain}, validation" in tidy
    assert f"Details: misstep show {json.loads(misstep('show', 'last', '--json').out)['run']}" in tidy
    shown = misstep("show", f"last/{task.id}").out
    assert "\nagent calls\n" in shown
    assert "differences" in shown
    found = json.loads(misstep("show", "last", task.id, "--json").out)
    assert (found["id"], found["verdict"], found["request"]) == (task.id, "failed", task.request)
    again = misstep("replay", f"last/{task.id[:7]}")
    assert again.code == 1
    assert again.out.rstrip().endswith("as before: failed")
    assert json.loads(misstep("replay", f"last/{task.id}", "--json").out)["why"] == found["why"]
    listed = misstep("runs").out
    assert "sim:damage" in listed
    assert "bench files" in listed
    assert "3 tasks" in listed


def test_all_passed(misstep: Command) -> None:
    printed = misstep("bench", "files", "--agent", "sim:right", *FEW, "--display", "plain")
    assert printed.code == 0
    assert re.search(r"\n\nall 3 tasks passed\n\nReport: misstep report \w{6}\n$", printed.out)
    assert ": 3 tasks\n" in printed.err
    assert "3/3  passed 3  failed 0" in printed.err


@pytest.mark.parametrize(
    ("gate", "code"), [("any", 1), ("none", 0), ("threshold:0.9", 1), ("threshold:0", 0)]
)
def test_the_gate_decides(misstep: Command, gate: str, code: int) -> None:
    given = ("--agent", "sim:idle", *FEW, "--count", "1", "--fail-on", gate, "--display", "none")
    assert misstep("bench", "files", *given).code == code


def test_other_commands_say_that_a_run_is_none_of_theirs(misstep: Command) -> None:
    run = bench(misstep, "sim:damage")
    task = first_tasks(1)[0].id
    for words in (
        ("plan", "dissect", run),
        ("plan", "dissect", run, "--dry-run"),
        ("plan", "dissect", f"{run}/{task}"),
        ("plan", "shrink", run, task),
        ("plan", "shrink", f"{run}/{task}", "--dry-run"),
    ):
        printed = misstep(*words)
        assert (printed.code, printed.out) == (2, "")
        assert f"run {run} is from bench files, which has no planning cases" in printed.err
        assert f"misstep show {run} shows it" in printed.err
    shown = misstep("show", run, "--by", "topic")
    assert (shown.code, shown.out) == (2, "")
    assert f"run {run} is from bench files, which has no planning cases" in shown.err
    assert f"misstep show {run} shows it" in shown.err
    for form in ("sft", "dpo"):
        printed = misstep("export", run, "--format", form, "--out", "examples.jsonl")
        assert (printed.code, printed.out, os.path.exists("examples.jsonl")) == (2, "", False)
        assert f"run {run} is from bench files, which has no planning cases" in printed.err
        assert "--format csv or parquet writes it as a table" in printed.err


def test_two_runs_are_compared_task_by_task(misstep: Command) -> None:
    first, second = bench(misstep, "sim:idle"), bench(misstep)
    result = misstep("compare", first, second)
    assert (result.code, result.err) == (0, "")
    lines = [line for line in result.out.splitlines() if line.split()[:1] != ["seconds"]]
    shown = "\n".join(lines).replace(first, "FIRST1").replace(second, "SECOND")
    check_snapshot("compare_tasks", shown)
    found = json.loads(misstep("compare", first, second, "--json").out)
    assert found["won"] == [task.id for task in first_tasks()]
    assert (found["lost"], found["pairing"]["second_only"]) == ([], 3)
    assert found["effort"][0]["calls"] == 0 < found["effort"][1]["calls"]


def test_what_can_not_be_compared(misstep: Command) -> None:
    first, other = bench(misstep), bench(misstep, "sim:right", "--split", "test")
    assert "have no judged task in common" in misstep("compare", first, other).err
    assert "both are run" in misstep("compare", other, "last").err
    plan = misstep("plan", "test", "--agent", "sim:perfect", "--count", "2", "--json")
    assert "is not from a benchmark" in misstep("compare", first, json.loads(plan.out)["run"]).err


def test_reports_are_written(tmp_path: Path, misstep: Command) -> None:
    bench(misstep, "sim:damage", "--report", "html,ndjson", "--report-dir", "out")
    (page,) = (tmp_path / "out").glob("*.html")
    text = page.read_text()
    assert "Tasks that did not pass" in text
    assert "0 of 3 judged tasks passed" in text
    (events,) = (tmp_path / "out").glob("*.ndjson")
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    assert [line["type"] for line in lines] == ["run_started", *["task_judged"] * 3, "run_finished"]
    assert lines[1]["report"]["verdict"] == "failed"


def test_a_stopped_run_is_shown_and_goes_on(misstep: Command) -> None:
    given = ("--agent", "sim:right", *FEW, "--display", "none", "--budget-calls", "8")
    printed = misstep("bench", "files", *given)
    assert printed.code == 3
    assert "the budget is exhausted: 8 of 8 calls" in printed.err
    shown = misstep("show", "last").out
    assert "unfinished: 1 of 3 tasks" in shown
    assert "1 of 3 tasks so far, which passed\n" in shown
    assert "1 of 3 tasks so far, which passed\n" in printed.out
    found = json.loads(misstep("show", "last", "--json").out)
    assert (found["tasks"], found["total"], found["passed"]) == (1, 3, 1)
    assert "Resume: misstep bench files --resume" in shown
    wrong = misstep("bench", "files", "--resume", "last", "--split", "test")
    assert (wrong.code, "--split can't be combined with --resume" in wrong.err) == (2, True)
    assert (
        "--tools plain can't be combined with --resume"
        in misstep("bench", "files", "--resume", "last", "--tools", "plain").err
    )
    assert misstep("plan", "test", "--resume", "last").code == 2
    again = ("--resume", "last", "--budget-calls", "500", "--display", "none", "--json")
    assert json.loads(misstep("bench", "files", *again).out)["passed"] == 3


def test_whatever_an_agent_says_is_harmless(tmp_path: Path, misstep: Command) -> None:
    nasty = "\x1b[2J\u202e<script>alert(1)</script>[bold red]"
    script = Script(plan=lambda *_: [calling("write_file", path=nasty, text=nasty)], answer=nasty)
    with ScriptedServer(script) as server:
        given = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url, *FEW)
        reports = ("--report", "html,ndjson", "--report-dir", "out", "--display", "plain")
        printed = misstep("bench", "files", *given, *reports)
    assert printed.code == 1
    shown = printed.out + printed.err + misstep("show", f"last/{first_tasks(1)[0].id}").out
    assert not {"\x1b", "\u202e"} & set(shown)
    assert "[bold red]" in shown
    (page,) = (tmp_path / "out").glob("*.html")
    assert "<script>alert" not in page.read_text()


def test_an_outage_is_told(misstep: Command) -> None:
    with ScriptedServer(model(faults=[Fault("401")])) as server:
        given = ("--agent", "tools", "--model", "x", "--model-base-url", server.base_url, *FEW)
        printed = misstep("bench", "files", *given, "--retries", "0", "--display", "none")
    assert printed.code == 2
    assert "model is unavailable" in printed.err
    assert "resume with: misstep bench files --resume" in printed.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--agent", "sim:right", "--kind", "mvoe"], "Did you mean 'move'?"),
        (["--agent", "sim:right", "--split", "tset"], "expected one of"),
        (["--agent", "sim:rigth"], "known agents: sim:right, sim:idle, sim:damage"),
        ([], "known agents: sim:right, sim:idle, sim:damage, react, tools"),
        (["--agent", "sim"], "known agents: sim:right, sim:idle, sim:damage, react, tools"),
        (
            ["--agent", "sim:right", "--domain", "acountant"],
            "Did you mean 'Accountant'?\n  known: Accountant",
        ),
        (
            ["--agent", "sim:right", "--split", "validation", "--kind", "copy", "--domain", "Accountant"],
            "the split 'validation' has no task of such a kind in such a domain",
        ),
        (["--agent", "sim:right", "--split", "fresh", "--count", "99999999"], "at most 10,000"),
        (["--agent", "sim:right", "--split", "fresh", "--kind", "mvoe"], "Did you mean 'move'?"),
        (["--agent", "sim:right", "--split", "fresh", "--domain", "Arts"], "Did you mean 'Art'?"),
        (["--agent", "sim:right", "--tools", "plane"], "Did you mean 'plain'?"),
        (["--agent", "sim:right", "--data", "."], "no tasks of the paper's benchmark"),
        (["--agent", "sim:right", "--data", "nowhere"], "can't be read as a folder: No such file"),
        (["--agent", "sim:right", "-A", "speed=2"], "sim:right has no parameter 'speed'"),
        (["--agent", "tools", "--model", "openai/gpt-4o"], "OPENAI_API_KEY is not set"),
        (
            ["--agent", "sim:right", "--kind", "dates", "--domain", "Art", "--split", "validation"],
            "the split 'validation' has no task of such a kind in such a domain",
        ),
        (
            ["--agent", "sim:right", "--data", ".", "--split", "fresh"],
            "--split fresh can't be combined with --data",
        ),
    ],
)
def test_what_is_typed_wrong_is_told(misstep: Command, arguments: list[str], said: str) -> None:
    printed = misstep("bench", "files", *arguments)
    assert (printed.code, printed.out) == (2, "")
    assert said in printed.err
    assert not os.path.exists(".misstep")


def test_the_help_names_agents_that_need_no_model(misstep: Command) -> None:
    assert "sim:right" in misstep("bench", "files", "--help").out
