"""Our own tools do what they say, in the folder they start in and nowhere else."""

import inspect
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

from misstep.benchmarks.files import shell, tools
from misstep.benchmarks.files.tools import SHELL, TOOLS
from misstep.runs.setup.configuration import USUALLY_TRYING
from misstep.schemas.source import parse_docstring


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with something outside that has to stay as it is."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text("secret")
    root = tmp_path / "here"
    (root / "reports/2023").mkdir(parents=True)
    (root / "reports/2023/a b.pdf").write_text("one\r\ntwo")
    (root / "reports/ü.txt").write_text("näher")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to("loop")
    monkeypatch.chdir(root)
    return root


def _outside(here: Path) -> list[tuple[str, str]]:
    return [(path.name, path.read_text()) for path in (here.parent / "outside").iterdir()]


def test_folders_are_listed(here: Path) -> None:
    assert tools.list_folder() == ["loop", "out", "reports/"]
    assert tools.list_folder("reports") == ["2023/", "ü.txt"]
    assert tools.find_files("*") == ["loop", "reports/2023/a b.pdf", "reports/ü.txt"]
    assert tools.find_files("*.pdf", "reports") == ["reports/2023/a b.pdf"]
    assert tools.find_files("*.PDF") == []


def test_files_are_read_and_written_byte_by_byte(here: Path) -> None:
    assert tools.read_file("reports/2023/a b.pdf") == "one\r\ntwo"
    assert tools.file_size("reports/ü.txt") == 6
    assert tools.write_file("new/deep/x.txt", "a\r\nb\n") == "wrote 5 bytes to 'new/deep/x.txt'"
    assert (here / "new/deep/x.txt").read_bytes() == b"a\r\nb\n"


def test_things_are_moved_copied_and_deleted(here: Path) -> None:
    tools.move("reports/ü.txt", "new/ä.txt")
    tools.copy("reports", "copy of reports")
    tools.copy("new/ä.txt", "é.txt")
    tools.delete("reports")
    tools.make_folder("empty/deep")
    assert tools.find_files("*") == ["copy of reports/2023/a b.pdf", "loop", "new/ä.txt", "é.txt"]
    assert (here / "empty/deep").is_dir()


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret.txt",
        "/etc/passwd",
        "out/secret.txt",
        "reports/../../outside/secret.txt",
        "..",
        "out",
    ],
)
def test_a_path_that_escapes_is_refused_by_every_tool(here: Path, path: str) -> None:
    before = _outside(here)
    attempts = [
        lambda: tools.list_folder(path),
        lambda: tools.find_files("*", path),
        lambda: tools.read_file(path),
        lambda: tools.file_size(path),
        lambda: tools.write_file(path, "mine"),
        lambda: tools.make_folder(f"{path}/new"),
        lambda: tools.move(path, "got.txt"),
        lambda: tools.move("reports/ü.txt", f"{path}/got.txt"),
        lambda: tools.copy(path, "got.txt"),
        lambda: tools.copy("reports/ü.txt", f"{path}/got.txt"),
        lambda: tools.delete(path),
    ]
    for attempt in attempts:
        with pytest.raises(PermissionError, match="is outside the current folder"):
            attempt()
    assert _outside(here) == before
    assert not (here / "got.txt").exists()


@pytest.mark.parametrize("path", ["loop/x", "a\0b", "a\udc80", "n" * 300])
def test_a_path_that_is_none_is_an_error(here: Path, path: str) -> None:
    for attempt in (tools.read_file, tools.delete, lambda path: tools.write_file(path, "")):
        with pytest.raises((ValueError, OSError)):
            attempt(path)


def test_mistakes_are_named(here: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no 'nothing.txt'"):
        tools.read_file("nothing.txt")
    with pytest.raises(IsADirectoryError, match="'reports' is not a file"):
        tools.read_file("reports")
    with pytest.raises(NotADirectoryError, match=r"'reports/ü.txt' is not a folder"):
        tools.list_folder("reports/ü.txt")
    with pytest.raises(IsADirectoryError, match="'reports' is a folder"):
        tools.write_file("reports", "")
    with pytest.raises(FileExistsError, match="there is something at 'reports/2023' already"):
        tools.move("reports/ü.txt", "reports/2023")
    with pytest.raises(ValueError, match="'reports/copy' is inside 'reports'"):
        tools.copy("reports", "reports/copy")
    for attempt in (
        tools.make_folder,
        lambda path: tools.write_file(path, ""),
        lambda path: tools.move("reports/2023", path),
    ):
        with pytest.raises(NotADirectoryError, match=r"there is a file in the way of 'reports/ü.txt/x'"):
            attempt("reports/ü.txt/x")
    with pytest.raises(UnicodeEncodeError):
        tools.write_file("reports/ü.txt", "\udc80")
    assert tools.read_file("reports/ü.txt") == "näher"
    with pytest.raises(PermissionError, match="the current folder itself can't be deleted"):
        tools.delete(".")


@pytest.mark.parametrize("value", [5, None, ["a"], {"path": "a"}])
def test_what_is_no_text_is_named(here: Path, value: Any) -> None:
    attempts = [tools.list_folder, tools.read_file, tools.file_size, tools.make_folder, tools.delete]
    attempts += [lambda each: tools.move("reports", each), lambda each: tools.copy(each, "x")]
    attempts += [tools.find_files, lambda each: tools.find_files("*", each), shell.run_command]
    attempts += [lambda each: tools.write_file("new.txt", each), lambda each: tools.write_file(each, "")]
    for attempt in attempts:
        with pytest.raises(TypeError, match=rf"has to be a text, not {re.escape(repr(value))}"):
            attempt(value)
    assert not (here / "new.txt").exists()


def test_folders_in_folders_are_counted(here: Path) -> None:
    deep = "/".join("d" * tools.DEEPEST)
    tools.make_folder(deep)
    tools.write_file("reports/b/c/d.txt", "")
    attempts = [
        lambda: tools.make_folder("/".join("d" * 1_500)),
        lambda: tools.write_file(f"{deep}/x.txt", ""),
        lambda: tools.copy("reports", f"{deep[:-3]}x"),
        lambda: tools.move("reports", f"{deep[:-3]}x"),
    ]
    for attempt in attempts:
        with pytest.raises(ValueError, match=rf"more than {tools.DEEPEST} folders deep"):
            attempt()
    tools.copy("d", "e")
    tools.move("e", "f")
    assert tools.find_files("x.txt", "f") == []
    tools.delete("d")
    tools.delete("f")
    assert tools.list_folder() == ["loop", "out", "reports/"]


def test_huge_files_and_pipes_are_not_read(here: Path) -> None:
    with (here / "huge").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ValueError, match="'huge' is larger than 1048576 bytes"):
        tools.read_file("huge")
    os.mkfifo(here / "pipe")
    with pytest.raises(IsADirectoryError, match="'pipe' is not a file"):
        tools.read_file("pipe")


def test_too_many_finds_are_told(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "MOST_FOUND", 1)
    with pytest.raises(ValueError, match=r"3 files match '\*', more than 1"):
        tools.find_files("*")


def test_commands_run_in_a_shell(here: Path) -> None:
    (run,) = SHELL
    assert run("ls reports") == "2023\nü.txt\n"
    assert run("mkdir x && mv reports/ü.txt x/ && ls x") == "ü.txt\n"
    assert run("echo no >&2; exit 3") == "no\n(exit code 3)"
    assert run("false") == "(exit code 1)"
    assert run("cat") == ""


def test_commands_are_ended_before_the_call_is_and_say_when() -> None:
    assert USUALLY_TRYING["timeout"] > shell.PATIENCE
    assert (
        f"longer than {shell.PATIENCE:g} seconds"
        in parse_docstring(inspect.getdoc(shell.run_command) or "").text
    )


def test_what_a_command_prints_is_bounded(here: Path) -> None:
    said = shell.run_command("head -c 5000000 /dev/zero | tr '\\0' x")
    assert len(said) == shell.MOST_SAID + len("\n… (more was printed)")


def test_a_command_that_does_not_end_is_stopped(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "PATIENCE", 0.2)
    for command in ("sleep 60", "yes", "sleep 60 & echo $! >pid; sleep 60"):
        with pytest.raises(TimeoutError, match=r"longer than 0.2 seconds"):
            shell.run_command(command)
    wait_for_end(int((here / "pid").read_text()))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("sleep 60 & echo $! >pid; echo done", "done\n"),
        ("yes >&2 & echo $! >pid; exit 3", "(exit code 3)"),
        ("exec 3>&1 >&- 2>&-; sleep 60 & echo $! >pid; echo done >&3", "done\n"),
    ],
)
def test_what_a_command_leaves_running_ends_with_it(here: Path, command: str, said: str) -> None:
    assert shell.run_command(command).endswith(said)
    wait_for_end(int((here / "pid").read_text()))


def test_a_command_that_closes_its_output_is_stopped_as_well(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "PATIENCE", 0.2)
    with pytest.raises(TimeoutError, match=r"longer than 0.2 seconds"):
        shell.run_command("exec >&- 2>&-; sleep 60")


def wait_for_end(pid: int) -> None:
    """Returns once a process is gone, or only its parent has still to hear of it."""
    state = Path(f"/proc/{pid}/stat")
    while state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)


def test_every_tool_documents_itself_and_its_parameters() -> None:
    for tool in (*TOOLS, *SHELL):
        said = parse_docstring(inspect.getdoc(tool) or "")
        names = [name for name in tool.__annotations__ if name != "return"]
        assert said.text
        assert [name for name in names if not said.parameters.get(name)] == []
