"""Files for servers that work on files: only those that the tools speak of, and real ones."""

import sqlite3
import subprocess
import xml.etree.ElementTree as XmlTree
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from PIL import Image

from misstep.core.agent import Tool
from misstep.core.tool import Described
from misstep.runs.setup.workspace import make_workspace


def tool(name: str, description: str = "", **parameters: str) -> Described:
    properties = {each: {"type": "string", "description": told} for each, told in parameters.items()}
    return Described(Tool(name, description, {"type": "object", "properties": properties}), "mcp")


@pytest.mark.parametrize(
    ("mentioned", "made"),
    [
        (tool("add", "Add two numbers."), set()),
        (tool("profile", "The profile of a user."), set()),  # not a file
        (tool("readFile", "Read it."), {"notes.md", "report.txt", "data", "src", "config.json"}),
        (tool("count", "Count words.", file_path="where"), {"notes.md"}),
        (tool("query", "Run SQL."), {"shop.db"}),
        (tool("git_log", "Show commits."), {"repository"}),
        (tool("read", "Read a sheet of an Excel workbook."), {"book.xlsx"}),
        (tool("convert", "Convert a PDF or an image."), {"invoice.pdf", "picture.png"}),
        (tool("unpack", "Unpack a ZIP archive."), {"archive.zip"}),
        (tool("write", "Write a Word document."), {"letter.docx"}),
    ],
    ids=lambda each: each.name if isinstance(each, Described) else "",
)
def test_what_the_tools_mention_is_made(mentioned: Described, made: set[str], tmp_path: Path) -> None:
    assert make_workspace([tool("other"), mentioned], tmp_path) == bool(made)
    names = {each.name for each in tmp_path.iterdir()}
    assert made <= names
    assert bool(names) == bool(made)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    words = "file, database, git repository, Excel workbook, Word, PDF, image, archive"
    assert make_workspace([tool("all", words)], folder)
    return folder


def test_they_are_the_same_every_time(workspace: Path, tmp_path: Path) -> None:
    words = "file, Excel workbook, Word, PDF, image, archive"
    make_workspace([tool("all", words)], tmp_path)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (workspace / path.relative_to(tmp_path)).read_bytes()


def test_the_database_has_rows(workspace: Path) -> None:
    with closing(sqlite3.connect(workspace / "shop.db")) as connection:
        query = "SELECT name, quantity FROM orders JOIN products ON products.id = product_id ORDER BY name"
        assert connection.execute(query).fetchall() == [("apple", 3), ("pear", 1)]


def test_the_repository_has_history(workspace: Path) -> None:
    def git(*words: str) -> str:
        place = str(workspace / "repository")
        return subprocess.run(["git", "-C", place, *words], capture_output=True, text=True, check=True).stdout

    assert git("log", "--format=%s").splitlines() == ["Add config.json", "Add report.txt", "Add notes.md"]
    assert git("branch", "--format=%(refname:short)").split() == ["feature", "main"]
    assert git("tag").split() == ["v1.0"]
    assert git("status", "--short") == " M report.txt\n"


@pytest.mark.parametrize("name", ["book.xlsx", "letter.docx", "archive.zip"])
def test_archives_are_whole(workspace: Path, name: str) -> None:
    with zipfile.ZipFile(workspace / name) as archive:
        assert archive.testzip() is None
        for part in archive.namelist():
            if part.endswith((".xml", ".rels")):
                XmlTree.fromstring(archive.read(part))


def test_the_picture_can_be_opened(workspace: Path) -> None:
    with Image.open(workspace / "picture.png") as picture:
        picture.load()
        assert picture.size == (16, 12)
        assert picture.getpixel((1, 2)) == (16, 40, 128)


def test_without_git_there_is_no_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert make_workspace([tool("git_log")], tmp_path)
    assert (tmp_path / "repository").is_dir()
