"""Trees go onto a disk and come back as they were; whatever is odd about either is told, never followed."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from misstep.benchmarks.tree import (
    File,
    Folder,
    Link,
    Other,
    Tree,
    complete,
    differences,
    lay,
    shown,
    survey,
)
from misstep.errors import UsageError

TREE: Tree = {
    "notes.txt": File(b"one\ntwo\nthree\n"),
    "reports/2023/Q1 – final.txt": File("näher\n".encode()),
    "reports/2024": Folder(),
    "reports/raw.bin": File(bytes(range(256))),
    "a\nb.txt": File(b""),
    "latest": Link("reports/2024"),
}


def test_what_is_laid_is_read_back(tmp_path: Path) -> None:
    lay(TREE, tmp_path)
    assert survey(tmp_path) == complete(TREE)
    assert differences(TREE, survey(tmp_path), TREE) == ()


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/etc/passwd", "it is absolute"),
        ("../out.txt", "it leads out of its folder"),
        ("a/../../out.txt", "it leads out of its folder"),
        ("", "it has an empty part"),
        ("a//b", "it has an empty part"),
        ("a/", "it has an empty part"),
        ("./a", "it has an empty part"),
        ("a\0b", "it contains a NUL character"),
        ("a\udc80", "it can't be written as UTF-8"),
        ("a/" + "n" * 256, "more than 255 bytes"),
        ("latest/out.txt", "it leads through 'latest', which is not a folder"),
        ("notes.txt/out.txt", "it leads through 'notes.txt', which is not a folder"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused_before_anything_is_written(
    tmp_path: Path, path: str, why: str
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    with pytest.raises(UsageError, match=why):
        lay({**TREE, path: File(b"out")}, root)
    assert list(tmp_path.rglob("*")) == [root]


def test_what_can_not_be_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it is a socket, which can't be made"):
        lay({"s": Other("a socket")}, tmp_path)


def test_only_an_empty_folder_is_written_to(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder for the files of a task"):
        lay({}, tmp_path / "nowhere")
    (tmp_path / "mine.txt").write_text("keep me")
    with pytest.raises(UsageError, match="is not empty"):
        lay({"mine.txt": File(b"")}, tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "keep me"


def test_links_are_never_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text("secret")
    root = tmp_path / "root"
    (root / "deep").mkdir(parents=True)
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to("loop")
    (root / "deep/up").symlink_to("..")
    (root / "file").symlink_to("../outside/secret.txt")
    found = survey(root)
    assert found == {
        "deep": Folder(),
        "deep/up": Link(".."),
        "file": Link("../outside/secret.txt"),
        "loop": Link("loop"),
        "out": Link(str(tmp_path / "outside")),
    }
    with pytest.raises(UsageError, match="can't read the folder of a task"):
        survey(root / "out")


def test_pipes_sockets_and_odd_names_are_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as plug:
        plug.bind(str(tmp_path / "plug"))
    (tmp_path / os.fsdecode(b"bad\xff\nname")).write_bytes(b"")
    found = survey(tmp_path)
    assert found["pipe"] == Other("a named pipe")
    assert found["plug"] == Other("a socket")
    assert differences({}, found, {}) == (
        r"unexpected: bad\udcff\nname",
        "unexpected: pipe, a named pipe",
        "unexpected: plug, a socket",
    )


def test_what_is_too_much_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)
    (tmp_path / "a").write_bytes(b"x" * 60)
    (tmp_path / "b").write_bytes(b"x" * 60)
    monkeypatch.setattr("misstep.benchmarks.tree.MOST_READ", 100)
    found = survey(tmp_path)
    assert found["a"] == File(b"x" * 60)
    assert found["b"] == Other("a file of 60 bytes, too large to be read")
    assert found["huge"] == Other("a file of 1,099,511,627,776 bytes, too large to be read")
    (line,) = differences({"huge": File(b"")}, {"huge": found["huge"]}, {})
    assert (
        line
        == "wrong kind: huge is a file of 1,099,511,627,776 bytes, too large to be read, should be a file"
    )


def test_many_entries_and_deep_folders_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path
    for _ in range(80):
        deep /= "d"
    deep.mkdir(parents=True)
    found = survey(tmp_path)
    assert len(found) == 64
    assert found["/".join("d" * 64)] == Other("a folder too deep to be read")
    (tmp_path / "many").mkdir()
    for number in range(30):
        (tmp_path / f"many/{number}").touch()
    monkeypatch.setattr("misstep.benchmarks.tree.MOST_ENTRIES", 85)
    assert survey(tmp_path)["many"] == Other("a folder with too much in it")
    monkeypatch.setattr("misstep.benchmarks.tree.MOST_ENTRIES", 1)
    assert survey(tmp_path) == {".": Other("a folder with too much in it")}


def test_what_can_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed.txt").write_text("x")
    tmp_path.chmod(0o755)
    (tmp_path / "closed").chmod(0)
    (tmp_path / "closed.txt").chmod(0)
    monkeypatch.chdir(tmp_path)  # for what is above it is closed to others
    with _as_nobody():
        found = survey(Path())
    (tmp_path / "closed").chmod(0o700)
    assert found == {
        "closed": Other("something that can't be read (Permission denied)"),
        "closed.txt": Other("something that can't be read (Permission denied)"),
    }


@contextmanager
def _as_nobody() -> Iterator[None]:
    """Root can read everything, so that it has to be somebody else."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"notes.txt": None}, "missing: notes.txt (it should have been left as it was)"),
        ({"reports/2024": None}, "missing: reports/2024/ (it should have been left as it was)"),
        ({"extra/x.txt": File(b"")}, "unexpected: extra/x.txt"),
        ({"extra": Folder()}, "unexpected: extra/"),
        ({"notes.txt": Folder()}, "wrong kind: notes.txt is a folder, should be a file"),
        ({"latest": File(b"reports/2024")}, "wrong kind: latest is a file, should be a link"),
        ({"latest": Link("reports")}, "changed: latest: leads to 'reports', should lead to 'reports/2024'"),
        ({"notes.txt": File(b"one\n2\nthree\n")}, "changed: notes.txt: line 2 is '2', should be 'two'"),
        ({"notes.txt": File(b"one\ntwo\n")}, "changed: notes.txt: line 3 is empty, should be 'three'"),
        (
            {"notes.txt": File(b"one\ntwo\nthree")},
            "changed: notes.txt: ends after line 3, should continue with empty",
        ),
        (
            {"notes.txt": File(b"one\ntwo\nthree\n\n")},
            "changed: notes.txt: continues after line 4 with empty",
        ),
        ({"notes.txt": File(b"")}, "changed: notes.txt: is empty, should be 14 bytes long"),
        ({"a\nb.txt": File(b"x\0\xff")}, r"changed: a\nb.txt: is 3 bytes long, should be empty"),
        ({"notes.txt": None, "Notes.txt": TREE["notes.txt"]}, "misplaced: Notes.txt should be notes.txt"),
        ({" ": File(b"")}, "unexpected: ' '"),
        ({"x/ ": Folder()}, "unexpected: 'x/ '/"),
        ({"a b /c.txt": File(b"")}, "unexpected: 'a b /c.txt'"),
        ({"notes.txt": None, " notes.txt": TREE["notes.txt"]}, "misplaced: ' notes.txt' should be notes.txt"),
        ({"reports/raw.bin": Other("a device")}, "wrong kind: reports/raw.bin is a device, should be a file"),
    ],
)
def test_every_sort_of_damage_is_told(changes: dict[str, object], line: str) -> None:
    found = {path: content for path, content in {**TREE, **changes}.items() if content is not None}
    assert differences(TREE, found, TREE) == (line,)


def test_what_should_be_gone_is_told_apart_from_what_nobody_wanted() -> None:
    found = {**TREE, "new.txt": File(b"new")}
    assert differences({}, found, TREE)[-1] == "unexpected: reports/raw.bin (it should be gone)"
    assert "unexpected: new.txt" in differences({}, found, TREE)


def test_long_lines_are_shown_where_they_differ() -> None:
    right, wrong = b"x" * 500 + b"A" + b"y" * 100, b"x" * 500 + b"B" + b"y" * 100
    (line,) = differences({"a": File(right)}, {"a": File(wrong)}, {})
    assert len(line) < 200
    assert "xB" in line
    assert "xA" in line


def test_many_differences_are_counted() -> None:
    lines = differences({f"{n:02}": File(b"") for n in range(50)}, {}, {})
    assert len(lines) == 21
    assert lines[-1] == "… and 30 more"


def test_paths_are_shown_on_one_line() -> None:
    assert shown("a b/ü.txt") == "a b/ü.txt"
    assert shown("a\n\x1b[31m\udcff") == r"a\n\x1b[31m\udcff"
    assert len(shown("x" * 5000)) == 201
