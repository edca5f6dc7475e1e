"""`plan capability`, `dissect`, `shrink` and `paper`, as they are typed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from misstep.store.runs import Store
from tests.conftest import Command
from tests.snapshots import check_snapshot

TERMINAL = ("--agent", "sim:terminal", "-A", "phrase=prior to")
SMALL = ("--actions", "2-5", "--per-pair", "6", "--most-cases", "40")
QUIET = ("--display", "none")


def newest(misstep: Command, number: int = 0) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(misstep("runs", "--json").out)["runs"][number]
    return run


def test_a_curve(misstep: Command) -> None:
    result = misstep("plan", "capability", "--agent", "sim:greedy", *SMALL, *QUIET)
    assert result.code == 0
    check_snapshot("capability", result.out)


def test_a_curve_as_json_and_shown_again(misstep: Command) -> None:
    result = misstep("plan", "capability", "--agent", "sim:greedy", *SMALL, "--json", *QUIET)
    curve = json.loads(result.out)
    assert {"run", "curve", "limit", "half", "errors"} <= curve.keys()
    assert {"actions", "cases", "passed", "interval", "chance"} <= curve["curve"][0].keys()
    assert json.loads(misstep("show", curve["run"], "--json").out) == curve
    check_snapshot("show-capability", misstep("show", "last", "--most", "1").out)


def test_several_agents_in_one_figure(misstep: Command) -> None:
    misstep("plan", "capability", "--agent", "sim:greedy", *SMALL, *QUIET, "--full")
    result = misstep("plan", "capability", "--agent", "sim:perfect", *SMALL, *QUIET, "--beside", "last")
    assert result.code == 0
    check_snapshot("capability-beside", result.out)


def test_the_usual_numbers_of_actions_are_those_of_the_paper(misstep: Command, tmp_path: Path) -> None:
    result = misstep("plan", "capability", "--agent", "sim:perfect", "--dry-run", "--json")
    assert json.loads(result.out)["cases"] == 20 + 60 + 120 + 200 + 300 * 4 == 1600
    (tmp_path / "misstep.toml").write_text('actions = "2-3"\n')
    result = misstep("plan", "capability", "--agent", "sim:perfect", "--dry-run", "--json")
    assert json.loads(result.out)["cases"] == 80


def test_a_page_with_the_figure(misstep: Command, tmp_path: Path) -> None:
    result = misstep("plan", "capability", "--agent", "sim:greedy", *SMALL, *QUIET, "--report", "html")
    assert result.code == 0
    run = newest(misstep)["run"]
    page = (tmp_path / "misstep-report" / f"{run}.html").read_text()
    assert "<svg" in page
    assert "sim:greedy" in page
    printed = misstep(
        "plan", "test", "--agent", "sim:greedy", *QUIET, "--report", "html", "--report-dir", "-"
    )
    assert printed.out.startswith("<!doctype html>")
    assert '<div id="cases">' in printed.out


def test_causes(misstep: Command) -> None:
    misstep("plan", "test", *TERMINAL, "--actions", "3-6", "--count", "150", *QUIET)
    run = newest(misstep)["run"]
    result = misstep("plan", "dissect", run, "--sample", "3", *QUIET, "--json")
    found = json.loads(result.out)
    assert (result.code, found["of"], len(found["failures"])) == (0, run, 3)
    assert {"case", "cause", "confidence", "evidence", "agent_runs"} <= found["failures"][0].keys()
    assert json.loads(misstep("show", found["run"], "--json").out) == found
    shown = misstep("show", found["run"]).out
    assert f"plan dissect of {run}" in shown
    assert "'prior to'" in shown
    literal = misstep("plan", "dissect", run, found["failures"][0]["case"], "--method", "pdoctor", *QUIET)
    assert "terminal" in literal.out


def test_nothing_to_dissect(misstep: Command) -> None:
    misstep("plan", "test", "--agent", "sim:perfect", "--count", "3", *QUIET)
    result = misstep("plan", "dissect", "last", *QUIET)
    assert (result.code, result.out.split(maxsplit=2)[2]) == (
        0,
        "has no failures within the agent's capability\n",
    )
    assert len(json.loads(misstep("runs", "--json").out)["runs"]) == 1


def shrunk(misstep: Command, *more: str) -> str:
    misstep("plan", "test", *TERMINAL, "--actions", "3-6", "--count", "60", *QUIET)
    run = newest(misstep)["run"]
    failed = json.loads(misstep("plan", "dissect", run, "--sample", "1", "--json", *QUIET).out)["failures"][
        0
    ]["case"]
    result = misstep("plan", "shrink", f"{run}/{failed}", *QUIET, *more)
    assert result.code == 1
    return result.out


def test_the_smallest_request(misstep: Command) -> None:
    printed = shrunk(misstep)
    check_snapshot("shrink", printed)
    again = misstep("show", "last").out
    assert "takes place prior to" in again
    line = next(line for line in printed.splitlines() if line.startswith("Replay: misstep "))
    replayed = misstep(*line.split()[2:])
    assert replayed.code == 1
    assert "as before: failed, order at step 1" in replayed.out
    lines = [*printed.splitlines(), *again.splitlines(), *replayed.out.splitlines()]
    assert [line for line in lines if line.endswith(" ")] == []


@pytest.mark.full
def test_a_regression_test_that_fails_until_the_agent_is_mended(misstep: Command, tmp_path: Path) -> None:
    shrunk(misstep, "--emit", "pytest", "--out", "test_small.py")
    path = tmp_path / "test_small.py"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)]
    failing = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert failing.returncode == 1
    assert "came too early" in failing.stdout
    path.write_text(
        path.read_text().replace("'sim:terminal', 'agent_args': {'phrase': 'prior to'}", "'sim:perfect'")
    )
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("plan", "dissect"), "no run was given"),
        (("plan", "shrink"), "no run was given"),
        (("plan", "shrink", "last"), "no case was given"),
        (("plan", "dissect", "last", "--resume", "last"), "last can't be combined with --resume"),
        (("plan", "capability"), "no agent given"),
        (("plan", "capability", "--agent", "sim:perfect", "--actions", "1-3"), "1"),
        (("plan", "capability", "--agent", "sim:perfect", "--beside", "nothing"), "there is no"),
        (("plan", "capability", "--agent", "sim:perfect", "--width", "0"), "0"),
        (("paper", "rq1"), "no agent was given"),
        (("compare", "last", "last"), "both are run"),
        (("show", "last", "--by", "moon"), "'moon' is not one of"),
        (("export", "last"), "--format"),
    ],
)
def test_what_can_t_be_done(misstep: Command, arguments: tuple[str, ...], complaint: str) -> None:
    misstep("plan", "test", "--agent", "sim:greedy", "--count", "5", *QUIET)
    result = misstep(*arguments)
    assert (result.code, result.out) == (2, "")
    assert complaint in result.err
    assert "Traceback" not in result.err


def test_experiments_of_the_paper(misstep: Command) -> None:
    small = ("--actions", "2-4", "--per-pair", "3", "--sample", "4", *QUIET)
    second = misstep("paper", "rq2", "--agent", "sim:greedy", "--agent", "sim:terminal", *small)
    assert second.code == 0
    check_snapshot("paper-rq2", second.out)
    third = misstep("paper", "rq3", "--agent", "sim:stubborn", *small)
    check_snapshot("paper-rq3", third.out)
    first = misstep("paper", "rq1", "--agent", "sim:random", "--budget-time", "0.5s", *QUIET, "--json")
    (row,) = json.loads(first.out)["effectiveness"]
    assert row["summary"]["cases"] > 0
    assert 0 < row["synthesis_seconds"] < row["seconds"]


@pytest.mark.full
def test_a_run_by_what_its_cases_have_in_common(misstep: Command) -> None:
    misstep("plan", "test", "--agent", "sim:topic", "-A", "topic=baker", "--count", "1500", *QUIET)
    result = misstep("show", "last", "--by", "topic")
    assert result.out.splitlines()[1].startswith("baker")
    assert "baker fails significantly more than the others" in " ".join(result.out.split())
    portions = json.loads(misstep("show", "last", "--by", "topic", "--json").out)["portions"]
    assert [portion["value"] for portion in portions if portion["significant"]] == ["baker"]


@pytest.mark.full
def test_the_settings_of_the_paper_hold_whatever_a_file_says(misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "misstep.toml").write_text(
        'actions = "2-3"\ntimeout = 1\nmax_steps = 9\ncount = 5\ntimed = true\n'
    )
    result = misstep("paper", "rq2", "--agent", "sim:perfect", "--json", *QUIET)
    (curve,) = json.loads(result.out)["capabilities"]
    assert [point["cases"] for point in curve["curve"]] == [20, 60, 120, 200, 300, 300, 300, 300]
    with Store(str(tmp_path / ".misstep" / "store.db")) as store:
        used = store.find_run(curve["run"]).settings
    assert (used.timeout, used.max_steps, used.timed, str(used.actions)) == (180.0, 50, False, "2-9")


def test_finished_curves_are_used_as_they_are(misstep: Command) -> None:
    small = ("--per-pair", "3", "--sample", "3", "--json", *QUIET)
    first = json.loads(misstep("paper", "rq2", "--agent", "sim:greedy", "--actions", "2-4", *small).out)
    before = misstep("runs", "--json").out
    again = json.loads(misstep("paper", "rq2", "--use", first["capabilities"][0]["run"], *small).out)
    assert again == first
    assert misstep("runs", "--json").out == before
    refused = misstep("paper", "rq2", "--use", first["dissections"][0]["run"], *small)
    assert (refused.code, "is not a finished run of plan capability" in refused.err) == (2, True)


def test_what_cannot_be_resumed_needs_a_larger_budget_in_a_new_run(misstep: Command) -> None:
    result = misstep("paper", "rq1", "--agent", "sim:greedy", "--budget-calls", "30", *QUIET)
    assert result.code == 3
    assert result.err.splitlines()[-1] == (
        "  it cannot be resumed; start a new run with a larger --budget-calls"
    )


def test_all_agents_of_an_experiment_are_looked_for_before_the_first_is_run(misstep: Command) -> None:
    result = misstep("paper", "rq1", "--agent", "sim:greedy", "--agent", "nosuch.py:x", *QUIET)
    assert result.code == 2
    assert "nosuch.py" in result.err
    assert misstep("runs").code == 2  # there is no store yet
