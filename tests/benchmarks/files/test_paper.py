"""The paper's own layout is read as it was published; whatever is wrong with a folder is named."""

import subprocess
from pathlib import Path

import pytest

from misstep.benchmarks.files import shell
from misstep.benchmarks.files.paper_tasks import doubts, judge_paper, printed_paths, read_paper
from misstep.benchmarks.tree import File, Folder, Link, survey
from misstep.errors import UsageError
from tests.benchmarks.files.test_tools import wait_for_end

SETUP = """#!/bin/bash
root_dir=$1
mkdir -p ${root_dir}/data/raw "${root_dir}/empty folder"
touch ${root_dir}/data/raw/a.csv
touch ${root_dir}/notes.txt
"""
LISTING = """.
├── data
│   └── raw
│       └── a.csv
├── empty folder
└── notes.txt

3 directories, 2 files
"""
LIST = """environments:
- ground_truth_directory:
    ./ground_truths/setup_art/art_1
  prompt_file: ./prompts/art/prompt1.txt
  setup_file: ./setups/setup_art.sh
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "bench"
    for name, text in {
        "envs/envs_art.yml": LIST,
        "prompts/art/prompt1.txt": "Move notes.txt to the data folder\n",
        "prompts/music/prompt0.txt": "Delete all CSV files",
        "prompts/music/prompt12.txt": "What is in here?",
        "setups/setup_art.sh": SETUP,
        "setups/setup_music.sh": SETUP,
        "setups/expected_tree_art.txt": LISTING,
        "ground_truths/setup_art/art_1/data/notes.txt": "",
        "ground_truths/setup_art/art_1/data/raw/a.csv": "",
        "ground_truths/setup_art/art_1/.git/HEAD": "ref",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_lists_and_prompts_are_read(folder: Path) -> None:
    listed, first, second = read_paper(folder)
    assert listed.task.request == "Move notes.txt to the data folder"
    assert [each.task.domain for each in (listed, first, second)] == ["art", "music", "music"]
    assert [each.task.kind for each in (listed, first, second)] == ["move", "delete", "other"]
    assert listed.setup == folder / "setups/setup_art.sh"
    assert listed.truth == folder / "ground_truths/setup_art/art_1"
    assert first.truth is None
    assert len({each.task.id for each in (listed, first, second)}) == 3


def test_a_task_that_several_lists_name_is_there_once(folder: Path) -> None:
    (folder / "envs_all.yml").write_text(LIST.replace("./prompts", "'./prompts").replace(".txt", ".txt'"))
    assert len(read_paper(folder)) == 3


def test_a_set_up_is_judged_by_its_files(folder: Path, tmp_path: Path) -> None:
    each = read_paper(folder)[0]
    (tmp_path / "task").mkdir()
    subprocess.run(["bash", str(each.setup), str(tmp_path / "task")], check=True)
    initial = survey(tmp_path / "task")
    assert doubts(each, initial) == ()
    assert judge_paper(each, initial, initial) == (
        "failed",
        ("misplaced: notes.txt should be data/notes.txt",),
    )
    right = {path: content for path, content in initial.items() if path != "notes.txt"} | {
        "data/notes.txt": File(b"")
    }
    assert judge_paper(each, right, initial) == ("passed", ())
    assert judge_paper(each, {**right, "new": Folder()}, initial) == ("passed", ())
    assert judge_paper(each, {**right, "new": Link("/etc")}, initial) == ("failed", ("unexpected: new",))


def test_without_a_ground_truth_nothing_can_be_said(folder: Path) -> None:
    verdict, why = judge_paper(read_paper(folder)[1], {}, {})
    assert verdict == "inconclusive"
    assert why == ("the benchmark's folder has no ground truth for this task",)


def test_a_set_up_that_is_not_what_its_listing_says_is_doubted(folder: Path) -> None:
    lines = doubts(read_paper(folder)[0], {"data": Folder(), "extra.txt": File(b"")})
    assert "the set-up lacks data/raw/a.csv" in lines
    assert "the set-up has extra.txt, which its listing lacks" in lines
    assert printed_paths("└── a\n   ├── b\n   │   └── c\n") == ["a", "a/b", "a/b/c"]
    assert printed_paths(LISTING) == ["data", "data/raw", "data/raw/a.csv", "empty folder", "notes.txt"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            LIST.replace("  setup_file: ./setups/setup_art.sh\n", ""),
            r"envs_art.yml:3 .*missing required field `setup_file`",
        ),
        (LIST.replace("setup_file", "set_up"), r"envs_art.yml:3 .*unknown field `set_up`"),
        (LIST + "  setup_file: again.sh\n", r"envs_art.yml:6 .*'setup_file' appears twice"),
        (LIST + "nonsense\n", r"envs_art.yml:6 .*can't read 'nonsense'"),
        (LIST + "- setup_file:\n", r"envs_art.yml:6 .*can't read '- setup_file:'"),
        ("setup_file: x\n", r"envs_art.yml:1 .*can't read"),
        (LIST.replace("./setups/setup_art.sh", "../../etc/passwd"), "leads out of the benchmark's folder"),
        (LIST.replace("./setups/setup_art.sh", "/bin/sh"), "leads out of the benchmark's folder"),
        (LIST.replace("setup_art.sh", "setup_none.sh"), r"there is no such set-up script"),
        (
            LIST.replace("prompt1.txt", "prompt9.txt"),
            r"prompt9.txt .*no such file\n  put it there, or take out what names it: envs\*\.yml",
        ),
    ],
)
def test_what_is_wrong_with_a_list_is_named(folder: Path, text: str, message: str) -> None:
    (folder / "envs/envs_art.yml").write_text(text)
    with pytest.raises(UsageError, match=message):
        read_paper(folder)


def test_odd_files_are_named(folder: Path) -> None:
    prompt = folder / "prompts/art/prompt1.txt"
    prompt.write_bytes(b"\xff\xfe")
    with pytest.raises(
        UsageError, match=r"prompt1.txt  is not UTF-8.*\n  save it as UTF-8, .* byte 0xff at place 0"
    ):
        read_paper(folder)
    prompt.write_text(" \n")
    with pytest.raises(UsageError, match=r"the prompt is empty\n  write into it what is to be done"):
        read_paper(folder)
    with prompt.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(UsageError, match=r"more than 4,194,304 bytes\n  expected a short text"):
        read_paper(folder)
    prompt.unlink()
    prompt.symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="leads out of the benchmark's folder"):
        read_paper(folder)
    prompt.unlink()
    prompt.symlink_to(prompt.name)
    with pytest.raises(UsageError, match=r"prompts/art/prompt1\.txt"):
        read_paper(folder)


def test_a_folder_without_tasks_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no tasks of the paper's benchmark\n  expected envs\*.yml"):
        read_paper(tmp_path)


def test_a_script_is_run_to_its_end_and_what_it_leaves_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shell, "SETUP_PATIENCE", 5.0)
    assert shell.set_up('touch "$1/a.txt"; sleep 1000 & echo $! >pid; exit 0\n') == ""
    assert (tmp_path / "a.txt").exists()
    wait_for_end(int((tmp_path / "pid").read_text()))
    assert shell.set_up("# " + "long " * 50_000 + "\ntouch b.txt\n") == ""
    assert (tmp_path / "b.txt").exists()
    assert shell.set_up("yes | head -c 100000; echo; echo no way; exit 3\n").endswith("\nno way")
    monkeypatch.setattr(shell, "SETUP_PATIENCE", 0.2)
    assert shell.set_up("sleep 1000\n") == "it took longer than 0.2 seconds"
