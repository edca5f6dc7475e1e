"""Runs on tools of the user's own: found again from anywhere, and never taken for others."""

from pathlib import Path

import pytest

from misstep.core.settings import Settings, Span
from misstep.runs.cases import absolute_tools, synthesise

TOOLS = "def first(): ...\ndef second(): ...\ndef {third}(): ...\ntools = [first, second, {third}]\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With names that could be taken for what comes before a colon."""
    monkeypatch.chdir(tmp_path)
    for name in ("mcp", "tools", "package.module"):
        (tmp_path / name).mkdir()
    (tmp_path / "mine.py").write_text(TOOLS.format(third="third"))
    return tmp_path


@pytest.mark.parametrize(
    "spec", ["", "mcp:python server.py", "mcp:http://127.0.0.1/x", "tools:tools", "package.module:all"]
)
def test_what_is_no_file_stays_as_it_is(spec: str) -> None:
    assert absolute_tools(spec) == spec


@pytest.mark.parametrize("rest", [":tools", ":make_tools()"])
def test_a_file_is_found_from_anywhere(folder: Path, rest: str) -> None:
    assert absolute_tools(f"mine.py{rest}") == f"{folder}/mine.py{rest}"
    assert absolute_tools("mcp.json") == f"{folder}/mcp.json"


def test_the_same_name_in_another_folder_means_other_tools(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert offered() == {"first", "second", "third"}
    other = folder / "other"
    other.mkdir()
    (other / "mine.py").write_text(TOOLS.format(third="another_one"))
    monkeypatch.chdir(other)
    assert offered() == {"first", "second", "another_one"}


def offered() -> set[str]:
    (case,) = synthesise(Settings(tools="mine.py:tools", actions=Span(3, 3), count=1))
    return {action.tool for action in case.actions}
