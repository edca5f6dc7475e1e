"""The paper's own tasks: set up by their scripts, in the sandbox."""

from pathlib import Path

import pytest

from misstep.core.results.benchmark import BenchmarkReport
from misstep.errors import BudgetExceeded, UsageError
from misstep.features.bench.run import replay_task, resume_benchmark, view_benchmark
from tests.features.bench.run.few_tasks import run, settings_in, verdicts
from tests.scripted import Call, Script, calling
from tests.tool_host.trying import needs_bubblewrap

SETUP = """#!/bin/bash
root_dir=$1
mkdir -p ${root_dir}/data "${root_dir}/empty folder"
touch ${root_dir}/data/a.csv ${root_dir}/notes.txt
"""
LISTING = ".\n├── data\n│   ├── a.csv\n│   └── b.csv\n├── empty folder\n└── notes.txt\n"
MOVE, DELETE = "Move notes.txt to the data folder", "Delete all CSV files"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    root = tmp_path / "bench"
    for name, text in {
        "prompts/art/prompt0.txt": MOVE,
        "prompts/art/prompt1.txt": DELETE,
        "setups/setup_art.sh": SETUP,
        "setups/expected_tree_art.txt": LISTING,
        "ground_truths/setup_art/art_0/data/notes.txt": "",
        "ground_truths/setup_art/art_0/data/a.csv": "",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def plan(request: str, tools: list[str]) -> list[Call]:
    return [calling("move", source="notes.txt", destination="data/notes.txt")] if MOVE in request else []


def paper(folder: Path, data: Path, script: Script | None = None, **more: object) -> BenchmarkReport:
    of_the_paper = {"data": str(data), "kinds": (), "split": "all", "count": None}
    return run(folder, script=script or Script(plan=plan, answer="Done."), **{**of_the_paper, **more})


@pytest.mark.parametrize("sandbox", [pytest.param("bubblewrap", marks=needs_bubblewrap), "none"])
def test_scripts_lay_the_tasks_and_ground_truths_decide(tmp_path: Path, data: Path, sandbox: str) -> None:
    moved, deleted = paper(tmp_path, data, sandbox=sandbox).tasks
    assert (moved.verdict, moved.why, moved.domain, moved.kind) == ("passed", (), "art", "move")
    assert deleted.verdict == "inconclusive"
    assert deleted.why == (
        "the benchmark's folder has no ground truth for this task",
        "the set-up lacks data/b.csv",
    )


def test_who_does_nothing_fails_and_can_be_asked_again(tmp_path: Path, data: Path) -> None:
    report = paper(tmp_path, data, Script(behaviour="idle"), agent="sim:idle")
    assert verdicts(report) == ["failed", "inconclusive"]
    assert report.tasks[0].why[0] == "misplaced: notes.txt should be data/notes.txt"
    _, after = replay_task(settings_in(tmp_path, agent=""), "last", report.tasks[0].name)
    assert after.verdict == "failed"


def test_a_run_goes_on(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data.parent)
    with pytest.raises(BudgetExceeded):
        paper(tmp_path, Path("bench"), agent="sim:idle", budget_time=0.000001)
    monkeypatch.chdir("/")
    settings = settings_in(tmp_path, resume="last", budget_time=600.0)
    report = resume_benchmark("files", settings)
    assert verdicts(report) == ["failed", "inconclusive"]
    assert view_benchmark(settings, "last") == report


HARMFUL = "touch $1/../stray; echo mine > {outside}/canary; ln -s {outside} $1/out; touch $1/out/stray\n"


@needs_bubblewrap
def test_scripts_touch_nothing_else(tmp_path: Path, data: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "canary").write_text("alive")
    (data / "setups/setup_art.sh").write_text(HARMFUL.format(outside=outside) + "true\n")
    assert verdicts(paper(tmp_path, data, sandbox="bubblewrap")) == ["failed", "inconclusive"]
    assert (outside / "canary").read_text() == "alive"
    assert [path.name for path in outside.iterdir()] == ["canary"]


def test_a_script_that_fails_is_told_of(tmp_path: Path, data: Path) -> None:
    (data / "setups/setup_art.sh").write_text("echo 'no way' >&2; exit 3\n")
    with pytest.raises(UsageError) as failed:
        paper(tmp_path, data, agent="sim:idle")
    assert "the set-up script failed: it ended with 3: no way" in str(failed.value)
    assert "setup_art.sh" in failed.value.where
    assert "misstep bench files --resume" in str(failed.value)
    (data / "setups/setup_art.sh").write_text(SETUP)
    assert verdicts(resume_benchmark("files", settings_in(tmp_path, resume="last"))) == [
        "failed",
        "inconclusive",
    ]


def test_nobody_knows_how_its_tasks_are_done(tmp_path: Path, data: Path) -> None:
    with pytest.raises(UsageError, match="no solution is known for task"):
        paper(tmp_path, data, agent="sim:right")
    assert not (tmp_path / "store.db").exists()
