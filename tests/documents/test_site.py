"""The site: it builds, links lead somewhere, nothing is loaded from elsewhere, Markdown is read as GitHub reads it."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.documents.pages import PAGES
from tests.documents.site import build, copy_sources, needs_mkdocs

pytestmark = [pytest.mark.full, needs_mkdocs]

LOADED = {"script": "src", "img": "src", "source": "srcset", "iframe": "src", "video": "src", "audio": "src"}
LINKED = ("stylesheet", "icon", "preload", "prefetch", "preconnect", "modulepreload", "manifest")
UNREAD = re.compile(r"^\s*(?:[-*|] |\d+\. |```|#+ )|</?picture")


class Reader(HTMLParser):
    """What a page loads, and its paragraphs."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded = list[str]()
        self.paragraphs = list[str]()
        self._open = list[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "link" and set(given.get("rel", "").split()) & {*LINKED}:
            self.loaded.append(given["href"])
        elif tag in LOADED and LOADED[tag] in given:
            self.loaded.append(given[LOADED[tag]])
        elif tag == "p":
            self.paragraphs.append("")
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while tag in self._open and self._open.pop() != tag:
            pass  # images and the like are never closed

    def handle_data(self, data: str) -> None:
        if "p" in self._open and "code" not in self._open:
            self.paragraphs[-1] += data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return folder


def loaded_by(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".css":
        yield from re.findall(r"(?:url\(|@import )[\"']?([^\"')\s]+)", text)
    else:
        yield from Reader(text).loaded


def test_every_page_is_there(site: Path) -> None:
    names = {page.removeprefix("docs/").removesuffix(".md") for page in PAGES if page.startswith("docs/")}
    paths = [site / ("" if name == "index" else name) / "index.html" for name in (*names, "changelog")]
    assert [path for path in paths if not path.exists()] == []
    assert not (site / "_site").exists()


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    files = [*site.rglob("*.html"), *site.rglob("*.css")]
    found = {(path, target) for path in files for target in loaded_by(path)}
    assert len(found) > len(files)
    assert [each for each in found if re.match(r"(?:[a-z]+:)?//", each[1])] == []
    own = [(path, target) for path, target in found if not target.startswith(("data:", "#"))]
    assert [each for each in own if not is_there(*each, site)] == []


def is_there(page: Path, target: str, site: Path) -> bool:
    name = re.sub(r"[?#].*", "", target)
    return (site / name[1:] if name.startswith("/") else page.parent / name).exists()


def test_what_is_loaded_is_seen(tmp_path: Path) -> None:
    page, style = tmp_path / "page.html", tmp_path / "style.css"
    page.write_text(
        '<script src="//a.example/x.js"></script><link rel="icon" href="https://b.example/i.png">'
    )
    style.write_text("@import 'https://c.example/f.css'; a { background: url(https://d.example/i.png) }")
    assert list(loaded_by(page)) == ["//a.example/x.js", "https://b.example/i.png"]
    assert list(loaded_by(style)) == ["https://c.example/f.css", "https://d.example/i.png"]


def test_lists_tables_and_pictures_are_read_as_such(site: Path) -> None:
    """What GitHub takes for a list or a table, Python-Markdown may take for text."""
    for path in site.rglob("*.html"):
        for paragraph in Reader(path.read_text(encoding="utf-8")).paragraphs:
            assert not [line for line in paragraph.splitlines() if UNREAD.search(line)], (path, paragraph)


def test_what_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    copy_sources(tmp_path)
    limits = tmp_path / "docs" / "limits.md"
    limits.write_text(
        f"{limits.read_text()}\n[one](nowhere.md) [two](index.md#nothing) [three](../LICENSE)\n"
    )
    (tmp_path / "docs" / "stray.md").write_text("# Stray\n")
    done = build(tmp_path / "built", tmp_path)
    assert done.returncode != 0
    for complaint in ("'nowhere.md'", "'#nothing'", "'../LICENSE'", "stray.md"):
        assert complaint in done.stderr
