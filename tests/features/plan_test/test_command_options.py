"""What a run says beforehand, while it goes on, and when its budget ends."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from misstep.core.event import CaseFinished
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.runs.setup.models import refuse_secrets
from tests.conftest import Command
from tests.snapshots import check_snapshot

TOOLS = ["--agent", "tools", "--model", "openai/gpt-4o-mini"]
GREEDY = ["--agent", "sim:greedy", "--fail-on", "none", "--display", "none"]


def test_a_dry_run(misstep: Command, tmp_path: Path) -> None:
    result = misstep("plan", "test", *TOOLS, "--count", "200", "--dry-run", "--budget-usd", "0.05")
    assert (result.code, result.err) == (0, "")
    check_snapshot("dry-run", result.out)
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_as_json(misstep: Command) -> None:
    told = json.loads(misstep("plan", "test", *TOOLS, "--dry-run", "--json").out)
    assert set(told) == {"cases", "calls", "tokens", "usd", "seconds", "basis", "affordable", "known"}
    assert (told["cases"], told["affordable"]) == (100, 100)


def test_a_resumed_run_is_no_dry_run(misstep: Command) -> None:
    result = misstep("plan", "test", "--resume", "x", "--dry-run")
    assert (result.code, result.err.splitlines()[0]) == (2, "--dry-run can't be combined with --resume")


def test_an_address_of_a_cluster_is_of_no_use_without_one(misstep: Command) -> None:
    result = misstep("plan", "test", *GREEDY, "--ray-address", "auto")
    assert result.code == 2
    assert "add --on ray" in result.err


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def check_events(events: list[dict[str, Any]], cases: int) -> None:
    kinds = [event["type"] for event in events]
    assert kinds == ["run_started", *["case_finished"] * cases, "run_finished"]
    assert events[0]["total"] == cases
    assert events[-1]["summary"]["cases"] == cases
    assert {event["run"] for event in events} == {events[0]["run"]}
    assert len({event["outcome"]["case"]["id"] for event in events[1:-1]}) == cases
    assert set(events[1]["outcome"]) <= set(CaseFinished.__annotations__["outcome"].__annotations__)


def test_events_as_json_lines_in_a_file(misstep: Command, tmp_path: Path) -> None:
    result = misstep("plan", "test", *GREEDY, "--count", "30", "--report", "ndjson")
    assert result.code == 0
    (report,) = (tmp_path / "misstep-report").iterdir()
    events = lines(report.read_text())
    check_events(events, 30)
    assert report.name == f"{events[0]['run']}.ndjson"


def test_events_as_json_lines_on_standard_output(misstep: Command) -> None:
    arguments = ["--report", "ndjson", "--report-dir", "-"]
    check_events(lines(misstep("plan", "test", *GREEDY, "--count", "5", *arguments).out), 5)
    both = misstep("plan", "test", *GREEDY, *arguments, "--json")
    assert (both.code, both.out) == (2, "")


def test_a_report_that_can_not_be_written(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    result = misstep("plan", "test", *GREEDY, "--report", "ndjson", "--report-dir", "taken")
    assert result.code == 2
    assert result.err.startswith("taken  the report can't be written\n")


@pytest.mark.parametrize("given", ["pdf", "ndjson,csv", ","])
def test_an_unknown_report(misstep: Command, given: str) -> None:
    result = misstep("plan", "test", *GREEDY, "--report", given)
    assert result.code == (0 if given == "," else 2)
    assert given == "," or "expected one or more of html, junit, sarif, json, md, ndjson" in result.err


@pytest.mark.parametrize(
    ("budget", "unit"),
    [(["--budget-calls", "43"], "calls"), (["--budget-time", "0.000001"], "seconds")],
)
def test_a_spent_budget(misstep: Command, budget: list[str], unit: str) -> None:
    result = misstep("plan", "test", *GREEDY, *budget, "--report", "ndjson")
    assert (result.code, result.out) == (3, "")
    assert f"{unit} used" in result.err.splitlines()[0]
    run = result.err.splitlines()[1].rpartition(" ")[2]
    events = lines(Path("misstep-report", f"{run}.ndjson").read_text())
    assert events[-1]["type"] == "run_stopped"
    assert events[-1]["reason"] in result.err
    assert f"{budget[0]} MORE" in result.err
    again = misstep("plan", "test", "--resume", run, budget[0], "1000000", "--fail-on", "none", "--json")
    assert json.loads(again.out)["cases"] == 100


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("45s", 45), ("5m", 300), ("1h30m", 5400), ("0.5", 0.5), ("2h", 7200)]
)
def test_times_are_written_as_people_write_them(misstep: Command, text: str, seconds: float) -> None:
    told = misstep("plan", "test", *TOOLS, "--dry-run", "--json", "--budget-time", text)
    assert json.loads(told.out)["affordable"] == min(
        100, int(100 * seconds / json.loads(told.out)["seconds"])
    )


@pytest.mark.parametrize("text", ["", "5 m", "m", "-1", "1d", "nan"])
def test_other_times_are_refused(misstep: Command, text: str) -> None:
    result = misstep("plan", "test", *TOOLS, "--dry-run", "--budget-time", text)
    assert result.code == 2
    assert "--budget-time" in result.err


def test_commands_to_go_on_with_name_the_store(misstep: Command) -> None:
    place = ["--store", "my runs.db"]
    stopped = misstep("plan", "test", *GREEDY, "--budget-calls", "43", *place)
    hints = [shlex.split(line.partition(": ")[2]) for line in stopped.err.splitlines()[1:]]
    assert [hint[0] for hint in hints] == ["misstep", "misstep"]
    assert misstep(*hints[0][1:]).code == 0
    assert misstep(*hints[1][1:-1], "100000", "--fail-on", "none", "--display", "none").code == 0
    shown = misstep("show", "last", *place).out
    again = next(line for line in shown.splitlines() if line.startswith("Details: "))
    assert misstep(*shlex.split(again.partition(": ")[2])[1:]).code == 0


def test_a_file_of_cases_that_gets_shorter_is_the_files_fault(misstep: Command, tmp_path: Path) -> None:
    misstep("plan", "synth", "--count", "40", "--out", "cases.jsonl")
    agent = """
import pathlib

def agent(request, tools):
    file = pathlib.Path("cases.jsonl")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:30]))
"""
    (tmp_path / "agent.py").write_text(agent)
    result = misstep("plan", "test", "--agent", "agent.py:agent", "--cases", "cases.jsonl", "--jobs", "1")
    assert result.code == 2
    assert "the file has changed" in result.err


def test_a_store_that_is_taken_away_is_not_said_to_be_there(misstep: Command, tmp_path: Path) -> None:
    agent = """
import shutil

def agent(request, tools):
    shutil.rmtree(".misstep", ignore_errors=True)
"""
    (tmp_path / "agent.py").write_text(agent)
    result = misstep("plan", "test", "--agent", "agent.py:agent", "--jobs", "1", "--display", "none")
    assert result.code == 2
    assert "the store was deleted during the run" in result.err
    assert "resume with" not in result.err


def test_a_password_in_the_address_of_the_store_is_no_secret_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "postgresql://me:hunter2pass@127.0.0.1:1/db"
    monkeypatch.setenv("MISSTEP_STORE", address)
    refuse_secrets(Settings(store=address))
    with pytest.raises(UsageError, match="value of a secret environment variable"):
        refuse_secrets(Settings(agent="mcp:client --password hunter2pass"))
