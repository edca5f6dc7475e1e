"""JSON lines: the place of every mistake, whole files or nothing."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from misstep.core.case import Case
from misstep.core.outcome import Call, Transcript
from misstep.errors import UsageError
from misstep.store.files import read_lines, write_lines

GOOD = b'{"case":"c","calls":[]}\n'


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    path = str(tmp_path / "plans.jsonl")
    plans = [
        Transcript("ünïcode ☃", (Call("t", {"x": [1, None, "\x00"]}),), answer=str(i)) for i in range(50)
    ]
    write_lines(path, plans)
    assert [plan for _, plan in read_lines(path, Transcript, "plan")] == plans


def test_places_count_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "plans.jsonl"
    path.write_bytes(b"\n" + GOOD + b"  \r\n" + GOOD)
    assert [where for where, _ in read_lines(str(path), Transcript, "plan")] == [f"{path}:2", f"{path}:4"]


DEEP = b'{"case":"c","calls":[{"tool":"t","arguments":' + b"[" * 100_000 + b"]" * 100_000 + b"}]}\n"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{"case":"c","cal', ":2  not JSON: Input data was truncated\n  expected one plan per line\n  the last line is incomplete: the file may be truncated"),
        (b"nonsense\n", ":2  not JSON: JSON is malformed: invalid character (byte 4)\n  expected one plan per line"),
        (b'{"case":"caf\xe9","calls":[]}\n', ":2  not UTF-8: byte 0xe9 at position 13\n  expected one plan per line, as JSON in UTF-8"),
        (b"[]\n", ":2  not a plan: Expected `object`, got `array`"),
        (b'{"case":1,"calls":[]}\n', ":2  not a plan: Expected `str`, got `int` - at `$.case`"),
        (b'{"calls":[]}\n', ":2  not a plan: Object missing required field `case`"),
        (b'{"case":"c","calls":[],"ended":"gone"}\n', ":2  not a plan: Invalid enum value 'gone' - at `$.ended`"),
        (DEEP, ":2  nested too deeply to be a plan"),
    ],
    ids=["cut", "text", "latin-1", "array", "type", "field", "enum", "deep"],
)  # fmt: skip
def test_mistakes_have_a_place(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "plans.jsonl"
    path.write_bytes(GOOD + content)
    with pytest.raises(UsageError) as error:
        list(read_lines(str(path), Transcript, "plan"))
    assert str(error.value) == f"{path}{complaint}"


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_a_file_with_nothing_in_it_is_a_mistake(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "plans.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="it contains no plan"):
        list(read_lines(str(path), Transcript, "plan"))


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        list(read_lines(str(tmp_path / "nothing"), Transcript, "plan"))


def test_a_failure_half_way_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("old")

    def values() -> Iterator[msgspec.Struct]:
        yield Transcript("c", ())
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_lines(str(path), values())
    assert os.listdir(tmp_path) == ["out.jsonl"]
    assert path.read_text() == "old"


def test_a_new_file_has_the_usual_rights(tmp_path: Path) -> None:
    ours, usual = tmp_path / "ours", tmp_path / "usual"
    write_lines(str(ours), [])
    usual.touch()
    assert ours.stat().st_mode == usual.stat().st_mode


@pytest.mark.parametrize("target", ["missing/out.jsonl", "."])
def test_where_nothing_can_be_written(tmp_path: Path, target: str) -> None:
    with pytest.raises(UsageError, match="can't be written"):
        write_lines(str(tmp_path / target), [Transcript("c", ())])
    assert os.listdir(tmp_path) == []


def test_a_link_stays_a_link_and_a_file_keeps_its_rights(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    write_lines(str(link), [Transcript("c", ())])
    assert link.is_symlink()
    assert target.read_bytes() == GOOD
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_bytes)
        write_lines(str(pipe), [Transcript("c", ())])
        assert read.result() == GOOD
    assert pipe.is_fifo()


def test_a_mark_at_the_beginning_of_the_file_is_overlooked(tmp_path: Path) -> None:
    path = tmp_path / "plans.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD)
    assert len(list(read_lines(str(path), Transcript, "plan"))) == 1


def test_a_newer_version_is_called_so(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('{"version":2,"novelty":1}\n')
    with pytest.raises(UsageError) as error:
        list(read_lines(str(path), Case, "case", version=1))
    assert str(error.value) == f"{path}:1  a case of version 2\n  this misstep reads version 1"
