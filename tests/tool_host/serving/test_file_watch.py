"""What calls do to files, as seen from outside of the tools."""

from pathlib import Path

import pytest

from misstep.core.tool import FileChange
from misstep.tool_host.serving import file_watch
from misstep.tool_host.serving.file_watch import MOST_CHANGES, FileWatch


def test_what_is_created_changed_and_removed(tmp_path: Path) -> None:
    work, copy = tmp_path / "work", tmp_path / "elsewhere" / "copy"
    for folder in (work, copy, tmp_path / "outside"):
        folder.mkdir(parents=True)
    (work / "kept.txt").write_text("kept words\n")
    (work / "old.txt").write_text("old")
    watch = FileWatch([str(work), str(tmp_path / "outside"), str(copy)])
    assert watch.changes() == ()
    (work / "kept.txt").write_text("kept words\nand more\n")
    (work / "old.txt").unlink()
    (work / "new").mkdir()
    (work / "new" / "x.txt").write_text("x")
    (tmp_path / "outside" / "y.txt").write_text("y")
    assert watch.changes() == (
        FileChange("../outside/y.txt", "created"),
        FileChange("kept.txt", "changed"),
        FileChange("new", "created"),
        FileChange("new/x.txt", "created"),
        FileChange("old.txt", "removed", lost=True),
    )
    assert watch.changes() == ()


def test_words_that_are_gone_are_lost(tmp_path: Path) -> None:
    file = tmp_path / "list.json"
    file.write_text('["apple", "pear"]')
    watch = FileWatch([str(tmp_path)])
    file.write_text('["pear", "plum", "apple"]')
    assert watch.changes() == (FileChange("list.json", "changed"),)
    file.write_text('["pear", "plum"]')
    assert watch.changes() == (FileChange("list.json", "changed", lost=True),)
    file.write_bytes(b"\0 no text any more")
    assert watch.changes() == (FileChange("list.json", "changed"),)


def test_git_loses_nothing_when_a_branch_goes_on(tmp_path: Path) -> None:
    branch = tmp_path / "shop" / ".git" / "refs" / "heads" / "main"
    branch.parent.mkdir(parents=True)
    branch.write_text("beadfacade\n")
    watch = FileWatch([str(tmp_path)])
    branch.write_text("cafefeedab\n")
    assert watch.changes() == (FileChange("shop/.git/refs/heads/main", "changed"),)


def test_times_logs_and_caches_are_no_changes(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text('{"at": "2024-01-15T10:30:00Z", "stamp": 1705312800.5}')
    (tmp_path / ".git").mkdir()
    watch = FileWatch([str(tmp_path)])
    file.write_text('{"at": "2025-02-16T11:31:01Z", "stamp": 1739705461.25}')
    (tmp_path / "server.log").write_text("a call")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/other")
    (tmp_path / "shop.db-journal").write_bytes(b"x")
    file.touch()
    assert watch.changes() == ()
    file.write_text('{"at": "2025-02-16T11:31:01Z", "stamp": 1739705461.25, "count": 2}')
    assert len(watch.changes()) == 1


def test_data_at_home_changes_and_what_programs_keep_there_does_not(tmp_path: Path) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    (home / ".todo").mkdir(parents=True)
    (home / ".todo" / "items.json").write_text('["apple"]')
    watch = FileWatch([str(work)], str(home))
    own = ".cache/a .npm/_logs/b .config/configstore/c .local/state/d .local/share/uv/e .python_history"
    for name in [*own.split(), ".config/shop/telemetry.json", ".todo/anonymous-id"]:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("x")
    assert watch.changes() == ()
    (home / ".todo" / "items.json").write_text("[]")
    (home / ".local" / "share" / "notes").mkdir()
    (home / ".local" / "share" / "notes" / "1.md").write_text("x")
    assert watch.changes() == (
        FileChange("~/.local/share/notes/1.md", "created"),
        FileChange("~/.todo/items.json", "changed", lost=True),
    )


def test_many_changes_are_cut_short(tmp_path: Path) -> None:
    watch = FileWatch([str(tmp_path)])
    for number in range(MOST_CHANGES + 5):
        (tmp_path / f"{number}.txt").write_text("x")
    assert len(watch.changes()) == MOST_CHANGES
    assert watch.changes() == ()


def test_the_tools_folder_is_seen_however_much_there_is_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_watch, "MOST_FILES", 10)
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    home.mkdir()
    (work / "list.txt").write_text("some words")
    for number in range(20):
        (home / f"{number:02}.txt").write_text("x")
    watch = FileWatch([str(work)], str(home))
    (work / "list.txt").write_text("some")
    (work / "new.txt").write_text("x")
    (home / "00.txt").unlink()
    (home / "01.txt").write_text("y")
    (home / "000.txt").write_text("x")
    assert watch.changes() == (
        FileChange("list.txt", "changed", lost=True),
        FileChange("new.txt", "created"),
        FileChange("~/01.txt", "changed"),
    )
    for each in home.iterdir():
        each.unlink()
    assert watch.changes() == ()  # what was not listed before may have been there
    (home / "00.txt").write_text("x")
    assert watch.changes() == (FileChange("~/00.txt", "created"),)


def test_changes_in_the_tools_folder_come_first(tmp_path: Path) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    home.mkdir()
    (work / "list.txt").write_text("some words")
    watch = FileWatch([str(work)], str(home))
    (work / "list.txt").unlink()
    for number in range(MOST_CHANGES):
        (home / f"{number}.txt").write_text("x")
    assert watch.changes()[0] == FileChange("list.txt", "removed", lost=True)


def test_nothing_is_lost_from_files_that_are_too_many_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_watch, "MOST_READ", 100)
    first, last = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("x" * 10)
    last.write_text("some words")
    watch = FileWatch([str(tmp_path)])
    first.write_text("x" * 95)
    last.touch()
    assert watch.changes() == (FileChange("a.txt", "changed", lost=True),)
    last.write_text("some words and more")
    assert watch.changes() == (FileChange("b.txt", "changed"),)
    first.write_text("x" * 10)
    last.write_text("some words and then more")
    assert FileChange("b.txt", "changed") in watch.changes()
