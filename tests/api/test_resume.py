"""A run that is cut short loses nothing that had finished, and ends like one that was not."""

import json
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from misstep.core.settings import Settings
from misstep.store.runs import Store

COMMAND = [sys.executable, "-m", "misstep", "plan", "test"]
SUITE = [
    "--agent",
    "sim:greedy",
    "--count",
    "1500",
    "--seed",
    "3",
    "--json",
    "--display",
    "none",
    "--fail-on",
    "none",
]


def finish(arguments: list[str], folder: Path) -> dict[str, Any]:
    result = subprocess.run([*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return dict(json.loads(result.stdout))


def wait_for(folder: Path, outcomes: int) -> str:
    """The id of the run once it has so many outcomes."""
    location = folder / ".misstep" / "store.db"
    for _ in range(3000):
        if location.exists():
            try:
                with Store(str(location)) as store:
                    runs = store.list_runs()
            except Exception:  # it is being made
                runs = []
            if runs and runs[0].done >= outcomes:
                return runs[0].id
        time.sleep(0.01)
    raise AssertionError("the run did not get that far")


def comparable(summary: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in summary.items() if key not in ("run", "seconds")}


@pytest.mark.parametrize("attempt", range(3))
def test_killed_again_and_again(tmp_path: Path, attempt: int) -> None:
    moments = sorted(random.Random(attempt).sample(range(1, 1400), 2))
    arguments = SUITE
    run = ""
    for moment in moments:
        process = subprocess.Popen([*COMMAND, *arguments], cwd=tmp_path, stdout=subprocess.DEVNULL)
        run = wait_for(tmp_path, moment)
        process.kill()
        process.wait()
        arguments = ["--resume", run, "--json", "--display", "none", "--fail-on", "none"]
    resumed = finish(arguments, tmp_path)
    (tmp_path / "whole").mkdir()
    whole = finish(SUITE, tmp_path / "whole")
    assert resumed["run"] == run
    assert comparable(resumed) == comparable(whole)
    assert sorted(outcomes(tmp_path, run)) == sorted(outcomes(tmp_path / "whole", whole["run"]))


def outcomes(folder: Path, run: str) -> list[str]:
    with Store(str(folder / ".misstep" / "store.db")) as store:
        return [f"{outcome.case.id} {outcome.verdict}" for outcome in store.outcomes(run)]


def test_ctrl_c(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, *SUITE], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    run = wait_for(tmp_path, 50)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert err == (
        f"run {run} was stopped; what had finished is kept\n  go on with: misstep plan test --resume {run}\n"
    )
    shown = subprocess.run(
        [sys.executable, "-m", "misstep", "show", run],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(rf"run {run}   unfinished: \d+ of 1500 cases", shown.stdout)
    assert f"misstep plan test --resume {run}" in shown.stdout


def test_a_resumed_run_keeps_its_own_settings(tmp_path: Path) -> None:
    with Store(str(tmp_path / ".misstep" / "store.db"), create=True) as store:
        run = store.add_run(Settings(agent="sim:idle", seed=9, count=4), 4, 0.0).id
    summary = finish(
        ["--resume", run, "--agent", "sim:perfect", "--seed", "1", "--json", "--fail-on", "none"], tmp_path
    )
    assert (summary["agent"], summary["errors"]["lost"]) == ("sim:idle", 4)


def test_two_runs_at_once_on_one_store(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen(
            [*COMMAND, *SUITE[:-2], "--fail-on", "none"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    summaries = [json.loads(process.communicate()[0]) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert comparable(summaries[0]) == comparable(summaries[1])
    assert summaries[0]["run"] != summaries[1]["run"]
