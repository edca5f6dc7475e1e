"""Nothing but the folder of a task is ever touched."""

import os
from pathlib import Path

import pytest

from misstep.errors import UsageError
from tests.features.bench.run.few_tasks import first_tasks, model, run, solution_of, verdicts
from tests.scripted import Call, Script, calling
from tests.tool_host.trying import needs_bubblewrap

WILD = """
import os, pathlib, shutil

def put(path: str) -> str:
    '''Write to a path.'''
    pathlib.Path(path).write_text("mine")
    return "done"

def link(path: str, target: str) -> str:
    '''Make a link.'''
    os.symlink(target, path)
    return "done"

def swap(target: str) -> str:
    '''Put a link in the place of the folder.'''
    here = os.getcwd()
    shutil.rmtree(here)
    os.symlink(target, here)
    return "done"

def look() -> str:
    '''Say what is here.'''
    return " ".join(sorted(os.listdir(os.getcwd())))

tools = [put, link, swap, look]
"""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with something in it that nobody may touch."""
    (tmp_path / "wild.py").write_text(WILD)
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "canary.txt").write_text("alive")
    return folder


def wild(*calls: Call) -> Script:
    return Script(plan=lambda *_: calls, answer="Done.")


def results(folder: Path, script: Script, **more: object) -> list[list[str]]:
    """What the tools said, by task."""
    report = run(folder, f"{folder}/wild.py:tools", script=script, **more)
    assert set(verdicts(report)) == {"failed"}
    return [[use.result for use in task.trial.uses] for task in report.tasks if task.trial]


@needs_bubblewrap
def test_a_sandbox_lets_nobody_out(tmp_path: Path, outside: Path, scratch: Path) -> None:
    escape = [
        calling("put", path="../x"),
        calling("put", path=str(outside / "canary.txt")),
        calling("put", path=str(scratch / "x")),
        calling("link", path="out", target=str(outside)),
        calling("put", path="out/canary.txt"),
        calling("link", path="loop", target="loop"),
        calling("put", path="loop"),
        calling("swap", target=str(outside)),
        calling("put", path="canary.txt"),
        calling("look"),
    ]
    first, second = results(tmp_path, wild(*escape), sandbox="bubblewrap", count=2)
    assert os.listdir(outside) == ["canary.txt"]
    assert (outside / "canary.txt").read_text() == "alive"
    assert sorted(os.listdir(tmp_path)) == ["outside", "scratch", "store.db", "wild.py"]
    assert [said[:5] for said in first[1:3]] == ["Error", "Error"]
    assert "Error" in first[7], "the folder itself can't be replaced"
    assert "canary.txt" in first[9].split()
    assert first[3] == second[3] == "done", "the second task begins with a folder of its own"


def test_a_folder_that_was_swapped_is_made_anew_and_what_it_led_to_is_left_alone(
    tmp_path: Path, outside: Path
) -> None:
    """Without a sandbox nothing keeps tools from it; we at least don't follow."""
    swapping = [calling("look"), calling("swap", target=str(outside))]
    first, second = results(tmp_path, wild(*swapping), count=2)
    assert (outside / "canary.txt").read_text() == "alive"
    assert os.listdir(outside) == ["canary.txt"]
    assert "canary.txt" not in first[0].split() + second[0].split()
    assert second[0] != ""


def test_links_that_an_agent_has_made_are_not_followed_when_all_is_cleared_away(
    tmp_path: Path, outside: Path
) -> None:
    linking = [calling("link", path="out", target=str(outside)), calling("look")]
    first, second = results(tmp_path, wild(*linking), count=2)
    assert first[0] == second[0] == "done"
    assert (outside / "canary.txt").read_text() == "alive"


def test_our_own_tools_work_without_a_sandbox_and_stay_inside(tmp_path: Path, outside: Path) -> None:
    def straying(request: str, tools: list[str]) -> list[Call]:
        return [
            calling("write_file", path="../x", text="x"),
            calling("write_file", path=str(outside / "x"), text="x"),
            calling("delete", path="../../outside"),
            *[calling(step.tool, **step.arguments) for step in solution_of(request).steps],
        ]

    (task,) = run(tmp_path, script=model(straying), count=1).tasks
    assert task.verdict == "passed"
    assert task.trial is not None
    assert ["outside the current folder" in use.result for use in task.trial.uses[:3]] == [True] * 3
    assert os.listdir(outside) == ["canary.txt"]


@pytest.mark.parametrize("tools", ["plain", "shell"])
def test_tools_are_refused_where_there_is_no_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError) as refused:
        run(tmp_path, tools, agent="sim:idle", sandbox="auto", count=1)
    assert "there is no sandbox for the tools: bubblewrap is not installed" in str(refused.value)
    assert "--sandbox none" in str(refused.value)
    assert verdicts(run(tmp_path, tools, agent="sim:idle", sandbox="none", count=1)) == ["failed"]


@needs_bubblewrap
def test_a_shell_does_a_task(tmp_path: Path) -> None:
    task = first_tasks(1)[0]
    moves = [
        f"mkdir -p \"$(dirname '{each['destination']}')\" && mv '{each['source']}' '{each['destination']}'"
        for each in [step.arguments for step in solution_of(task.request).steps if step.tool == "move"]
    ]
    assert moves
    script = wild(calling("run_command", command=" && ".join(moves)))
    report = run(tmp_path, "shell", script=script, sandbox="bubblewrap", count=1)
    assert report.tasks[0].why == ()


@pytest.mark.parametrize("what", ["MOST_BYTES", "MOST_ENTRIES"])
def test_a_folder_is_not_filled_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    bound = {"MOST_BYTES": 1 << 20, "MOST_ENTRIES": 200}[what]
    monkeypatch.setattr(f"misstep.features.bench.environments.{what}", bound)
    fill = {"MOST_BYTES": "head -c 2000000 /dev/zero > big", "MOST_ENTRIES": "seq 300 | xargs touch"}[what]
    script = wild(calling("run_command", command=fill), calling("run_command", command="ls"))
    (task,) = run(tmp_path, "shell", script=script, count=1).tasks
    assert task.trial is not None
    assert (task.verdict, task.trial.uses[1].result) == ("failed", "")
    assert "so it was emptied" in task.why[0]


def test_a_call_that_fills_the_folder_is_ended_while_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("misstep.features.bench.environments.MOST_BYTES", 1 << 20)
    filling = "for n in $(seq 600); do head -c 200000 /dev/zero > $n; sleep 0.1; done"
    script = wild(calling("run_command", command=filling), calling("run_command", command="ls"))
    (task,) = run(tmp_path, "shell", script=script, count=1).tasks
    assert task.trial is not None
    first, second = [use.result for use in task.trial.uses]
    assert "so it was emptied" in first
    assert second == ""
    assert (task.verdict, len(task.why)) == ("failed", 1)
