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

from misstep.api.plan import load_cases, replay_case, synthesise
from misstep.core.settings import Settings
from misstep.store.lines import write_lines
from misstep.store.runs import Store

COMMAND = [sys.executable, "-m", "misstep", "plan", "test"]
SUITE = [
    "--agent",
    "sim:greedy",
    "--count",
    "2500",
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
    moments = sorted(random.Random(attempt).sample(range(1, 1200), 2))
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


def hear_ctrl_c() -> None:
    """Whoever runs the tests may have told them to ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_ctrl_c(tmp_path: Path) -> None:
    command = [*COMMAND, "--agent", "sim:greedy", "--count", "100000", "--json", "--display", "none"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_ctrl_c,
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
    assert re.search(rf"run {run}   unfinished: \d+ of 100000 cases", shown.stdout)
    assert f"misstep plan test --resume {run}" in shown.stdout


def started(folder: Path, **settings: Any) -> str:
    """The id of a run that has been started and not got anywhere."""
    with Store(str(folder / ".misstep" / "store.db"), create=True) as store:
        return store.add_run(Settings(agent="sim:idle", seed=9, **settings), 4, 0.0).id


def test_a_resumed_run_keeps_its_own_settings(tmp_path: Path) -> None:
    run = started(tmp_path, count=4)
    summary = finish(["--resume", run, "--json", "--fail-on", "none"], tmp_path)
    assert (summary["agent"], summary["errors"]["lost"]) == ("sim:idle", 4)


@pytest.mark.parametrize("change", ["another seed", "another size", "another content"])
def test_other_cases_are_not_mixed_in(tmp_path: Path, change: str) -> None:
    cases = tmp_path / "cases.jsonl"
    write_lines(str(cases), synthesise(Settings(count=4, seed=9)))
    run = started(tmp_path, cases=str(cases))
    with Store(str(tmp_path / ".misstep" / "store.db")) as store:
        for case in list(load_cases(str(cases)))[:2]:
            store.add_outcome(run, replay_case(case, Settings(agent="sim:perfect")))
    if change == "another seed":
        write_lines(str(cases), synthesise(Settings(count=4, seed=10)))
    elif change == "another size":
        write_lines(str(cases), synthesise(Settings(count=5, seed=9)))
    else:
        cases.write_text(cases.read_text().replace("Several tasks", "Some tasks"))
    result = subprocess.run([*COMMAND, "--resume", run], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr.startswith(f"run {run} can't be resumed\n")


def test_two_sittings_of_one_run_count_every_case_once(tmp_path: Path) -> None:
    with Store(str(tmp_path / ".misstep" / "store.db"), create=True) as store:
        run = store.add_run(Settings(agent="sim:perfect", count=600), 600, 0.0).id
    arguments = [*COMMAND, "--resume", run, "--json", "--display", "none"]
    processes = [
        subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    summaries = [json.loads(text) for process in processes if (text := process.communicate()[0])]
    assert summaries
    assert all((summary["cases"], summary["passed"]) == (600, 600) for summary in summaries)
    with Store(str(tmp_path / ".misstep" / "store.db")) as store:
        assert store.find_run(run).done == 600


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
