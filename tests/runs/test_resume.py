"""A run that is cut short loses nothing that had finished, and ends like one that was not."""

import json
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from misstep.core.settings import Settings
from misstep.core.spending import Spent
from misstep.errors import StoreError
from misstep.runs.cases import count_cases, load_cases, synthesise
from misstep.runs.executor import replay_case
from misstep.store.files import write_lines
from misstep.store.runs import Run, Store

COMMAND = [sys.executable, "-m", "misstep", "plan", "test"]
QUIET = ["--json", "--display", "none", "--fail-on", "none"]
COUNT = 2000
SUITE = ["--agent", "sim:greedy", "--count", str(COUNT), "--seed", "3", *QUIET]
KILLS = 12


def finish(arguments: list[str], folder: Path) -> dict[str, Any]:
    result = subprocess.run([*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return dict(json.loads(result.stdout))


def newest(location: str) -> Run | None:
    """The newest run of a store, if there is one yet."""
    try:
        with Store(location) as store:
            runs = store.list_runs()
    except StoreError:
        return None
    return runs[0] if runs else None


def wait_for(folder: Path, outcomes: int) -> str:
    """The id of the run once it has so many outcomes."""
    for _ in range(3000):
        run = newest(str(folder / ".misstep" / "store.db"))
        if run and run.done >= outcomes:
            return run.id
        time.sleep(0.01)
    raise AssertionError("the run did not get that far")


def comparable(summary: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in summary.items() if key not in ("run", "seconds")}


@pytest.mark.full
def test_killed_again_and_again_at_any_moment(tmp_path: Path, store_location: str) -> None:
    """From the first instructions on: while it loads, makes the store, runs, resumes."""
    dice, kept = random.Random(4), 0
    place = ["--store", store_location]
    for _ in range(KILLS):
        run = newest(store_location)
        arguments = ["--resume", run.id, *QUIET] if run else SUITE
        process = subprocess.Popen(
            [*COMMAND, *arguments, *place], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        wait_a_while(process, store_location, dice, kept)
        process.kill()
        complaint = process.communicate()[1].decode()
        assert complaint == "" or process.returncode == 0, complaint
        run = newest(store_location)
        assert (run.done if run else 0) >= kept
        kept = run.done if run else 0
        if run and run.summary:
            break
    run = newest(store_location)
    assert run is not None
    if not run.summary:
        finish(["--resume", run.id, *QUIET, *place], tmp_path)
    whole = finish([*SUITE, *place], tmp_path)
    with Store(store_location) as store:
        resumed = store.find_run(run.id).summary
        assert comparable(json.loads(msgspec.json.encode(resumed))) == comparable(whole)
        assert results(store, run.id) == results(store, whole["run"])
        assert len(store.list_runs()) == 2


def wait_a_while(process: subprocess.Popen[bytes], location: str, dice: random.Random, kept: int) -> None:
    """Until some moment while it starts, or after some more outcomes."""
    pause = dice.uniform(0, 1.5)
    if dice.random() > 0.3:
        wanted, pause = kept + dice.randint(1, 200), dice.uniform(0, 0.02)
        while process.poll() is None and not ((run := newest(location)) and run.done >= wanted):
            time.sleep(0.02)
    with suppress(subprocess.TimeoutExpired):
        process.wait(pause)


def results(store: Store, run: str) -> list[str]:
    return sorted(f"{outcome.case.id} {outcome.verdict}" for outcome in store.outcomes(run))


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
        f"run {run} was stopped; finished cases are stored\n  resume with: misstep plan test --resume {run}\n"
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
    chosen = Settings(agent="sim:idle", seed=9, **settings)
    with Store(str(folder / ".misstep" / "store.db"), create=True) as store:
        return store.add_run(chosen, 4, 0.0, count_cases(chosen)[1]).id


def test_a_resumed_run_keeps_its_own_settings(tmp_path: Path) -> None:
    run = started(tmp_path, count=4)
    summary = finish(["--resume", run, "--json", "--fail-on", "none"], tmp_path)
    assert (summary["agent"], summary["errors"]["lost"]) == ("sim:idle", 4)


@pytest.mark.full(after=1)
@pytest.mark.parametrize("change", ["another seed", "another size", "another content", "another rest"])
def test_other_cases_are_not_mixed_in(tmp_path: Path, change: str) -> None:
    cases = tmp_path / "cases.jsonl"
    write_lines(str(cases), synthesise(Settings(count=4, seed=9)))
    run = started(tmp_path, cases=str(cases))
    with Store(str(tmp_path / ".misstep" / "store.db")) as store:
        for case in list(load_cases(str(cases)))[:2]:
            with store.sit(run, 0.0) as writer:
                writer.keep([replay_case(case, Settings(agent="sim:perfect"))], Spent())
    if change == "another seed":
        write_lines(str(cases), synthesise(Settings(count=4, seed=10)))
    elif change == "another size":
        write_lines(str(cases), synthesise(Settings(count=5, seed=9)))
    else:
        lines = cases.read_text().splitlines(keepends=True)
        first = 3 if change == "another rest" else 0
        changed = [line.replace("Several tasks", "Some tasks") for line in lines[first:]]
        cases.write_text("".join([*lines[:first], *changed]))
    result = subprocess.run([*COMMAND, "--resume", run], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr.startswith(f"run {run} can't be resumed\n")


@pytest.mark.full
def test_a_run_that_is_going_on_can_not_be_resumed(tmp_path: Path) -> None:
    process = subprocess.Popen([*COMMAND, "--agent", "sim:greedy", "--count", "100000", *QUIET], cwd=tmp_path)
    try:
        run = wait_for(tmp_path, 20)
        second = subprocess.run([*COMMAND, "--resume", run], cwd=tmp_path, capture_output=True, text=True)
        shown = subprocess.run(
            [sys.executable, "-m", "misstep", "show", run], cwd=tmp_path, capture_output=True, text=True
        )
    finally:
        process.kill()
        process.wait()
    assert second.returncode == 2
    assert second.stderr.startswith(f"run {run} is in progress in process {process.pid}\n")
    assert re.search(rf"run {run}   running: \d+ of 100000 cases", shown.stdout)
    assert "--resume" not in shown.stdout


@pytest.mark.full
def test_two_runs_at_once_on_one_store(tmp_path: Path, store_location: str) -> None:
    processes = [
        subprocess.Popen(
            [*COMMAND, *SUITE, "--count", "1000", "--store", store_location],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    summaries = [json.loads(process.communicate()[0]) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert comparable(summaries[0]) == comparable(summaries[1])
    assert summaries[0]["run"] != summaries[1]["run"]


DEADLY = """
import os


def agent(request, tools):
    if tools[0].name == {tool!r}:
        os.kill(os.getpid(), 9)
    for tool in tools:
        tool()
    return "done"
"""


@pytest.mark.full
def test_a_case_that_kills_the_process_can_not_keep_a_run_from_its_end(tmp_path: Path) -> None:
    """The first sitting dies of it; the next keeps the agent apart, and the case errs alone."""
    cases = list(synthesise(Settings(count=6)))
    (tmp_path / "agent.py").write_text(DEADLY.format(tool=cases[3].actions[0].tool))
    first = subprocess.run(
        [*COMMAND, "--agent", "agent.py:agent", "--count", "6", "--jobs", "1", *QUIET],
        cwd=tmp_path,
        capture_output=True,
    )
    assert first.returncode == -9
    run = newest(str(tmp_path / ".misstep" / "store.db"))
    assert run is not None
    summary = finish(["--resume", run.id, *QUIET], tmp_path)
    assert (summary["cases"], summary["errored"]) == (6, 1)
    with Store(str(tmp_path / ".misstep" / "store.db")) as store:
        assert store.find_outcome(run.id, cases[3].id).verdict.verdict == "errored"


@pytest.mark.full
def test_termination_is_like_ctrl_c(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "--agent", "sim:greedy", "--count", "100000", *QUIET],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    run = wait_for(tmp_path, 20)
    process.terminate()
    assert f"resume with: misstep plan test --resume {run}" in process.communicate()[1]
    assert process.returncode == 130


UNRULY = """
import itertools, os, pathlib, sys

turns = itertools.count()
ways = [
    "os._exit(0)",
    "sys.exit(0)",
    "raise KeyboardInterrupt",
    "raise SystemExit",
    "raise GeneratorExit",
]


{kind}def agent(request, tools):
    way = ways[next(turns) % len(ways)]
    with pathlib.Path("ways.txt").open("a") as tried:
        tried.write(way + "\\n")
    exec(way)
"""


@pytest.mark.full
@pytest.mark.parametrize("kind", ["", "async "])
def test_an_agent_can_neither_end_the_process_nor_interrupt_it(tmp_path: Path, kind: str) -> None:
    (tmp_path / "agent.py").write_text(UNRULY.format(kind=kind))
    summary = finish(["--agent", "agent.py:agent", "--count", "15", *QUIET], tmp_path)
    assert (summary["cases"], summary["errored"]) == (15, 15)
    tried = Counter((tmp_path / "ways.txt").read_text().splitlines())
    assert (len(tried), {*tried.values()}) == (5, {3})


@pytest.mark.full
def test_what_an_agent_executes_last_does_not_decide_how_we_end(tmp_path: Path) -> None:
    """Python remembers that a text was interrupted while it was executed, and would end by SIGINT for it."""
    (tmp_path / "agent.py").write_text("def agent(request, tools):\n    exec('raise KeyboardInterrupt')\n")
    summary = finish(["--agent", "agent.py:agent", "--count", "1", *QUIET], tmp_path)
    assert (summary["cases"], summary["errored"]) == (1, 1)


def fill_the_disk() -> None:
    """No file may grow beyond this, and whoever tries is told so like on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


@pytest.mark.full
def test_a_full_disk_stops_a_run_which_goes_on_when_there_is_room(tmp_path: Path) -> None:
    full = subprocess.run(
        [*COMMAND, *SUITE], cwd=tmp_path, capture_output=True, text=True, preexec_fn=fill_the_disk
    )
    assert (full.returncode, full.stdout) == (2, "")
    run = newest(str(tmp_path / ".misstep" / "store.db"))
    assert run is not None
    assert 0 < run.done < COUNT
    assert f"resume with: misstep plan test --resume {run.id}" in full.stderr
    resumed = finish(["--resume", run.id, *QUIET], tmp_path)
    assert comparable(resumed) == comparable(finish(SUITE, tmp_path))
