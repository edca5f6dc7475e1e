"""Files for servers that work on files: only those that the tools speak of, and real ones."""

import json
import posixpath
import re
import sqlite3
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as XmlTree
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from PIL import Image

from misstep.core.agent import Tool
from misstep.core.tool import Described
from misstep.fuzzing.inputs.edges import endings_for
from misstep.fuzzing.inputs.semantic import load_topics
from misstep.runs.setup.workspace import KINDS, make_workspace


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
        (tool("unpack", "Unpack a ZIP archive."), {"archive.zip", "archive.tar.gz"}),
        (tool("crop", "Crop a JPEG."), {"photo.jpg"}),
        (tool("run_cell", "Run a cell of a Jupyter notebook."), {"analysis.ipynb"}),
        (tool("add_slide", "Add a slide."), {"slides.pptx"}),
        (tool("write", "Write a Word document."), {"letter.docx"}),
        (tool("show", "Show a diagram."), {"diagram.drawio", "diagram.mmd"}),
        (tool("lint", "Lint TypeScript."), {"src", "tsconfig.json"}),
    ],
    ids=lambda each: each.name if isinstance(each, Described) else "",
)
def test_what_the_tools_mention_is_made(mentioned: Described, made: set[str], tmp_path: Path) -> None:
    assert make_workspace([tool("other"), mentioned], tmp_path) == bool(made)
    names = {each.name for each in tmp_path.iterdir()}
    assert made <= names
    assert bool(names) == bool(made)


VARIOUS = ("files?|", "git|")  # kinds that are not known by the ends of names
MOSTLY_OTHER = "word"  # mostly it does not mean a document


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith(VARIOUS)])
def test_every_word_that_files_are_made_for_tells_how_their_names_end(kind: str, tmp_path: Path) -> None:
    KINDS[kind](tmp_path)
    made = [each.name for each in tmp_path.rglob("*.*")]
    for form in kind.split("|"):
        for word in {re.sub(r"\\?(.)\?", kept, form) for kept in ("", r"\1")} - {MOSTLY_OTHER}:
            endings = endings_for(word)
            assert endings, word
            assert any(name.endswith(endings) for name in made), word


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    words = "file, database, git repository, Excel workbook, Word, PDF, image, archive, notebook, PowerPoint"
    assert make_workspace([tool("all", words)], folder)
    return folder


def test_they_are_the_same_every_time(workspace: Path, tmp_path: Path) -> None:
    words = "file, Excel workbook, Word, PDF, image, archive, notebook, PowerPoint"
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
    assert git("branch", "--format=%(refname:short)").split() == ["feature/search", "main"]
    assert git("tag").split() == ["v1.0.0"]
    assert git("status", "--short") == " M report.txt\nA  settings.yaml\n"


def test_the_fuzzer_knows_names_in_the_repository(workspace: Path) -> None:
    place = workspace / "repository"
    topic = next(each for each in load_topics() if each.name == "git")
    found = [
        subprocess.run(["git", "-C", place, "rev-parse", "-q", "--verify", f"{name}^{{commit}}"], check=False)
        for name in topic.plain
    ]
    assert [name for name, each in zip(topic.plain, found, strict=True) if each.returncode] == [
        "octocat/hello-world"
    ]


@pytest.mark.parametrize("name", ["book.xlsx", "letter.docx", "slides.pptx", "archive.zip"])
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


def test_the_photo_can_be_opened(workspace: Path) -> None:
    with Image.open(workspace / "photo.jpg") as photo:
        photo.load()
        assert (photo.format, photo.size, photo.getpixel((15, 11))) == ("JPEG", (16, 12), 128)


def test_the_tarball_can_be_unpacked(workspace: Path) -> None:
    with tarfile.open(workspace / "archive.tar.gz") as archive:
        assert archive.getnames() == ["notes.md", "data/sales.csv"]
        packed = archive.extractfile("notes.md")
        assert packed is not None
        assert packed.read() == (workspace / "notes.md").read_bytes()


def test_the_notebook_has_texts_code_and_output(workspace: Path) -> None:
    notebook = json.loads((workspace / "analysis.ipynb").read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert [cell["cell_type"] for cell in notebook["cells"]] == ["markdown", "code", "code"]
    assert len({cell["id"] for cell in notebook["cells"]}) == 3
    code = notebook["cells"][1]
    printed = subprocess.run([sys.executable, "-c", "".join(code["source"])], capture_output=True, text=True)
    assert printed.stdout == "".join(code["outputs"][0]["text"])


def test_all_parts_of_the_presentation_are_linked(workspace: Path) -> None:
    with zipfile.ZipFile(workspace / "slides.pptx") as package:
        names = set(package.namelist())
        types = {each.get("PartName") for each in XmlTree.fromstring(package.read("[Content_Types].xml"))}
        assert {f"/{name}" for name in names if name.startswith("ppt/") and not name.endswith(".rels")} == (
            types - {None}
        )
        for name in (each for each in names if each.endswith(".rels")):
            for link in XmlTree.fromstring(package.read(name)):
                place = posixpath.join(posixpath.dirname(posixpath.dirname(name)), link.attrib["Target"])
                assert posixpath.normpath(place) in names
        assert b"Sales rose in March." in package.read("ppt/slides/slide1.xml")


def test_without_git_there_is_no_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert make_workspace([tool("git_log")], tmp_path)
    assert (tmp_path / "repository").is_dir()
