"""Markdown as GitHub's reader would take it: nothing in foreign text is more than text."""

from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec import structs

from misstep.core.results.comparison import Held, NewFinding
from misstep.core.results.report import ReportItem, Unconfirmed
from misstep.rendering.markdown import code, markdown, prose
from tests.interop.statements import HOSTILE, entry, flaw, statement

ALLOWED = {"h3", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "br", "strong"}


class Tags(HTMLParser):
    """The tags of a page, and the text of its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tags = set[str]()
        self.cells = list[str]()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.cells:
            self.cells[-1] += data


def read(text: str) -> Tags:
    found = Tags()
    found.feed(MarkdownIt("gfm-like", {"html": True}).render(text))
    return found


def test_a_run_in_short() -> None:
    found = read(
        markdown(statement([entry("passed", "a"), entry("failed", "b"), entry("errored", "c")], passed=False))
    )
    assert [cell.strip() for cell in found.cells[:4]] == ["3", "1", "1", "0"]
    assert [cell.strip() for cell in found.cells[5:7]] == ["b", "order at step 2"]
    assert "misstep plan test: failed" in found.text
    assert "misstep replay k3x9aa/f1" in found.text
    assert "1 case errored, the first: the model was out" in found.text


def test_minor_and_unconfirmed_ones_are_folded_and_a_cause_is_listed_once() -> None:
    asides = [flaw("main"), flaw("odd", aside="minor", title="odd one"), flaw("copy", aside="same cause")]
    copies = [entry("failed", f"copy{n}", flaws=(flaw(aside="same cause"),)) for n in range(40)]
    waiting = entry("passed", "p", unconfirmed=(Unconfirmed("crash E in p", "misstep replay k3x9aa/f2"),))
    text = markdown(statement([*copies, entry("failed", "a", flaws=tuple(asides)), waiting], unit="tool"))
    table, _, folded = text.partition("<details><summary>1 minor</summary>")
    assert ("main" in table, "odd one" in table, "copy" in table, "more" in table) == (
        True,
        False,
        False,
        False,
    )
    assert "odd one" in folded
    assert "1 not confirmed" in folded
    assert folded.count("not confirmed") == 1
    assert "- crash E in p, `misstep replay k3x9aa/f2`" in folded


def test_a_long_list_is_cut() -> None:
    text = markdown(statement([entry("failed", f"case{number}") for number in range(500)]))
    assert "case9" in text
    assert "case10" not in text
    assert "… and 490 more: `misstep show k3x9aa`" in text
    assert len(text) < 10_000


def test_folded_lists_are_cut() -> None:
    """GitHub refuses summaries over 1 MiB."""
    odd = tuple(flaw("x" * 300, title="y" * 120, aside="minor") for _ in range(20))
    waiting = tuple(Unconfirmed("z" * 300, "misstep replay k3x9aa/f2") for _ in range(20))
    entries = [entry("failed", f"tool{number}", flaws=odd, unconfirmed=waiting) for number in range(300)]
    text = markdown(statement(entries, unit="tool"))
    assert "<summary>6,000 minor</summary>" in text
    assert "<summary>6,000 not confirmed</summary>" in text
    assert text.count("- … and 5,990 more: `misstep show k3x9aa`") == 2
    assert len(text) < 20_000


def test_no_more_cases_are_read_than_shown() -> None:
    known = [entry("failed", f"case{number}") for number in range(500)]
    read = list[str]()

    def entries(_: object) -> Iterator[ReportItem]:
        for each in known:
            read.append(each.name)
            yield each

    assert "… and 490 more" in markdown(structs.replace(statement(known), entries=entries))
    assert read == [each.name for each in known[:10]]


def test_regressions() -> None:
    worse = Held("p4q2zz", regressed=True, new=(NewFinding("x", "shop|", "crash", "Key<b>"),))
    found = read(markdown(statement([], held=worse)))
    assert "1 finding not in baseline p4q2zz (crash Key<b> in shop|)" in found.text
    assert found.tags <= ALLOWED


def test_hostile_text_stays_text() -> None:
    hostile = flaw(HOSTILE, title=HOSTILE, misstep=HOSTILE, replay=HOSTILE, subject=HOSTILE)
    entries = [entry("failed", HOSTILE, flaws=(hostile,)), entry("errored", reason=HOSTILE)]
    found = read(markdown(statement(entries, subject=HOSTILE, run=HOSTILE, unfinished=HOSTILE)))
    assert found.tags <= ALLOWED
    assert "<script>alert(1)</script>" in found.text
    assert len(found.cells) == 5 + 4


@pytest.mark.parametrize("text", ["evil.com", "see shop.py", "a.b.io/x", "www.a.de"])
def test_names_of_hosts_and_files_are_no_links(text: str) -> None:
    found = read(f"| a |\n|---|\n| {prose(text)} |\n")
    assert found.tags <= ALLOWED
    assert found.cells[0].strip() == text


@pytest.mark.parametrize("write", [prose, code])
@given(text=st.text(st.sampled_from("ab |`\\<>&[]()!*_~#$@:/.w-\n1"), max_size=30))
def test_whatever_a_cell_says(write: object, text: str) -> None:
    assert callable(write)
    found = read(f"| a | b |\n|---|---|\n| x{write(text)}x | end |\n")
    assert found.tags <= ALLOWED
    assert len(found.cells) == 2
    shown = text.replace("\n", "\\u000a")
    assert "".join(found.cells[0].split()) == "".join(f"x{shown}x".split())
