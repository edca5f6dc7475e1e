"""A folder on the disk that tools start in, so that others can see what they have done there."""

import os
from pathlib import Path

import pytest

from misstep.errors import UsageError
from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions, Shelter
from tests.tool_host.trying import LIMITS, needs_bubblewrap, react

TOOLS = """
import os, pathlib

def note(name: str, text: str) -> str:
    '''Write a text to a file.'''
    pathlib.Path(name).write_text(text)
    return " ".join(sorted(os.listdir()))

def die() -> None:
    '''End.'''
    os._exit(3)

tools = [note, die]
"""

SHELTERS = [pytest.param("bubblewrap", marks=needs_bubblewrap), "none"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "notes.py").write_text(TOOLS)
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "given.txt").write_text("given")
    return tmp_path / "room"


@pytest.mark.parametrize("shelter", SHELTERS)
def test_what_tools_do_there_can_be_seen_and_is_never_put_back(folder: Path, shelter: Shelter) -> None:
    spec = f"{folder.parent}/code/notes.py:tools"
    conditions = CallConditions(shelter=shelter, limits=LIMITS, folder=str(folder))
    with ToolHost(spec, conditions) as bench:
        assert react(bench, "note", name="a.txt", text="one").text == "a.txt given.txt"
        assert (folder / "a.txt").read_text() == "one"
        bench.reset()
        (folder / "a.txt").unlink()
        (folder / "laid.txt").write_text("laid")
        assert react(bench, "note", name="b.txt", text="two").text == "b.txt given.txt laid.txt"
        assert react(bench, "die").ended == "died"
        assert react(bench, "note", name="c.txt", text="").text == "b.txt c.txt given.txt laid.txt"
    assert sorted(os.listdir(folder)) == ["b.txt", "c.txt", "given.txt", "laid.txt"]


@needs_bubblewrap
def test_nothing_else_can_be_changed(folder: Path) -> None:
    (folder / "out").symlink_to(folder.parent)
    spec = f"{folder.parent}/code/notes.py:tools"
    with ToolHost(spec, CallConditions(shelter="bubblewrap", limits=LIMITS, folder=str(folder))) as bench:
        for name in ("out/x", f"{folder.parent}/x", "../x", "/tmp/misstep/x"):
            react(bench, "note", name=name, text="x")
    assert sorted(os.listdir(folder.parent)) == ["code", "room"]


def test_a_folder_that_is_not_there_is_told_of(folder: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        ToolHost(f"{folder.parent}/code/notes.py:tools", CallConditions(folder=f"{folder}/none"))
