"""What calls do to files, as seen from outside of the tools."""

from pathlib import Path

from misstep.core.tool import FileChange
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


def test_many_changes_are_cut_short(tmp_path: Path) -> None:
    watch = FileWatch([str(tmp_path)])
    for number in range(MOST_CHANGES + 5):
        (tmp_path / f"{number}.txt").write_text("x")
    assert len(watch.changes()) == MOST_CHANGES
    assert watch.changes() == ()
