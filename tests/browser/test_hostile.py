"""Whatever agents, tools and users say is nothing but text, in every place that scripts put it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from misstep.rendering.html.page import RunPage, planning_parts, run_page
from tests.browser.chromium import Visitor
from tests.rendering.html.test_page import EVIL, book, findings, outcome, summary

pytestmark = pytest.mark.full

Visit = Callable[..., Visitor]
ALARM = "window.alert = () => { throw new Error('a script of theirs was run'); }"
KINDS = (
    "[...new Set([...document.querySelectorAll('body *')].map(node => node.tagName.toLowerCase()))].sort()"
)


def shape(visitor: Visitor, path: Path) -> list[str]:
    """Every kind of element that the list and the case are made of."""
    visitor.page.add_init_script(ALARM)
    page = visitor.open(path)
    found = page.evaluate(KINDS)
    page.locator(".rows a").first.click()
    page.locator("article.case .headline").wait_for()
    return [*found, *page.evaluate(KINDS)]


def write(folder: Path, text: str) -> Path:
    path = folder / "page.html"
    path.write_text(run_page(findings(text)), "utf-8")
    return path


@pytest.fixture(scope="module")
def harmless(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return shape(Visitor(browser.new_context()), write(tmp_path_factory.mktemp("harmless"), "harmless"))


@pytest.mark.parametrize("evil", [*EVIL, "\\u003c/script>\u2028${alert(1)}`"])
def test_hostile_text_makes_no_element(visit: Visit, harmless: list[str], tmp_path: Path, evil: str) -> None:
    visitor = visit()
    assert shape(visitor, write(tmp_path, evil)) == harmless
    assert "onerror" not in visitor.page.evaluate(
        "[...document.querySelectorAll('*')].flatMap(n => n.getAttributeNames())"
    )
    said = visitor.page.locator("article.case").inner_text()
    printable = "".join(letter for letter in evil if letter.isprintable() and letter not in "\ufffe\uffff")
    assert printable[:8] in said


def test_an_address_that_somebody_else_has_written(visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    counts, shown = summary("", [outcome()]), book(outcome())
    path.write_text(run_page(RunPage(counts, tuple(planning_parts(counts, cases=shown)), shown)), "utf-8")
    state = "#q=%3Cscript%3Ealert(1)%3C/script%3E&sort=__proto__&seconds=x..y&topic=constructor&__proto__=1"
    page = visit().open(path, state)
    assert page.locator(".none").inner_text().startswith("No case matches")
    assert page.locator("#search").input_value() == "<script>alert(1)</script>"
