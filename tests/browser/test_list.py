"""The list of all cases, as somebody uses it who looks for something."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chromium import Visitor

pytestmark = pytest.mark.full

Visit = Callable[..., Visitor]
Pages = Callable[[str], Path]


def listed(page: Any) -> list[str]:
    """The ids of the rows that exist, from the top."""
    return [str(text) for text in page.locator(".rows .id").all_inner_texts()]


def verdicts(page: Any) -> list[str]:
    return [str(text) for text in page.locator(".rows .verdict").all_inner_texts()]


def said(page: Any) -> str:
    return str(page.locator(".filters .said").inner_text())


def test_a_page_opens_from_the_disk_and_asks_nobody(visit: Visit, page_of: Pages) -> None:
    visitor = visit(offline=True)
    page = visitor.open(page_of("order"))
    assert said(page) == "40 cases"
    assert visitor.requests == [page.url]
    assert verdicts(page)[0] == "order"  # failures first
    assert page.locator(".charts canvas").count() == 0
    page.locator("summary", has_text="Charts").click()
    page.locator(".charts canvas").nth(2).wait_for()


def test_a_search_narrows_the_list_and_stays_in_the_address(visit: Visit, page_of: Pages) -> None:
    page = visit().open(page_of("order"))
    wanted = listed(page)[3]
    page.keyboard.press("/")
    page.keyboard.type(wanted)
    assert listed(page) == [wanted]
    assert said(page) == "1 of 40 cases"
    assert page.url.endswith(f"#q={wanted}")
    page.get_by_role("button", name="Clear all").click()
    assert said(page) == "40 cases"


def test_facets_and_the_back_button(visit: Visit, page_of: Pages) -> None:
    page = visit().open(page_of("order"))
    page.get_by_label("Verdict", exact=True).select_option("passed")
    passed = said(page)
    assert set(verdicts(page)) == {"passed"}
    page.locator("summary", has_text="More filters").click()
    topic = page.get_by_label("Topic", exact=True)
    topic.select_option(index=1)
    assert said(page) != passed
    page.go_back()
    assert (said(page), topic.input_value()) == (passed, "")
    page.go_back()
    assert said(page) == "40 cases"
    page.go_forward()
    assert said(page) == passed


def test_an_address_leads_to_what_was_looked_at(visit: Visit, page_of: Pages) -> None:
    page = visit().open(page_of("order"), "#verdict=failed&sort=-actions&actions=5..6")
    sizes = [int(text) for text in page.locator(".rows .actions").all_inner_texts()]
    assert set(sizes) == {5, 6}
    assert sizes == sorted(sizes, reverse=True)
    assert "passed" not in verdicts(page)
    assert page.get_by_role("columnheader", name="Actions").get_attribute("aria-sort") == "descending"


def test_headings_sort(visit: Visit, page_of: Pages) -> None:
    page = visit().open(page_of("order"))
    before = listed(page)
    heading = page.get_by_role("button", name="Actions")
    for direction in ("descending", "ascending"):
        heading.click()
        sizes = [int(text) for text in page.locator(".rows .actions").all_inner_texts()]
        assert sizes == sorted(sizes, reverse=direction == "descending")
        assert page.get_by_role("columnheader", name="Actions").get_attribute("aria-sort") == direction
    heading.click()
    assert listed(page) == before


def test_a_bar_is_a_filter(visit: Visit, page_of: Pages) -> None:
    page = visit().open(page_of("order"))
    page.locator("summary", has_text="Charts").click()
    figure = page.locator("figure", has_text="By number of actions")
    assert figure.get_by_role("img").get_attribute("aria-label").startswith("By number of actions, ")
    box = figure.locator("canvas").bounding_box()
    figure.locator("canvas").click(position={"x": box["width"] / 4, "y": 14})
    assert page.url.endswith("#actions=3..3")
    assert set(page.locator(".rows .actions").all_inner_texts()) == {"3"}
    figure.locator("canvas").click(position={"x": box["width"] / 4, "y": 14})
    assert said(page) == "40 cases"


def test_rows_by_keyboard(visit: Visit, page_of: Pages) -> None:
    page = visit().open(page_of("order"))
    rows = listed(page)
    page.locator(".rows a").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == rows[1]
    page.keyboard.press("End")
    last = page.evaluate("document.activeElement.closest('[role=row]').getAttribute('aria-rowindex')")
    assert last == "41"
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.locator("article.case").wait_for()
    assert page.url.endswith(f"#case={rows[0]}")
    page.keyboard.press("ArrowRight")
    page.wait_for_url(f"**#case={rows[1]}")
    page.keyboard.press("Escape")
    page.locator(".rows").wait_for()
    page.locator(".rows a:focus", has_text=rows[1]).wait_for()


def test_who_can_not_see_is_told_what_the_list_is(visit: Visit, page_of: Pages) -> None:
    page = visit().open(page_of("order"))
    table = page.get_by_role("table", name="Cases")
    assert table.get_attribute("aria-rowcount") == "41"
    assert page.get_by_role("status").inner_text() == "40 cases"
    assert page.get_by_role("columnheader").count() == 7
    assert page.get_by_role("search").count() == 1


def test_only_rows_near_the_window_exist(visit: Visit, page_of: Pages) -> None:
    page = visit(height=500).open(page_of("order"))
    assert page.locator(".rows .row").count() < 40
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.locator(".rows [aria-rowindex='41']").wait_for()
    first = page.locator(".rows .row").first.get_attribute("aria-rowindex")
    assert re.fullmatch(r"\d+", first)
    assert int(first) > 2


@pytest.mark.parametrize("width", [390, 660, 900])
def test_nothing_has_to_be_pushed_sideways(visit: Visit, page_of: Pages, width: int) -> None:
    page = visit(width=width, height=844).open(page_of("order"))
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.locator(".rows a").first.click()
    page.locator("article.case").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_failed_cases_are_above_the_fold(visit: Visit, page_of: Pages) -> None:
    page = visit(width=1400, height=900).open(page_of("order"))
    third = page.locator(".rows .row").nth(2)
    assert third.locator(".why").inner_text().endswith(".")
    assert third.bounding_box()["y"] + third.bounding_box()["height"] < 900


def test_the_reason_stays_on_a_phone(visit: Visit, page_of: Pages) -> None:
    page = visit(width=390, height=844).open(page_of("order"))
    first = page.locator(".rows .row").first
    assert first.locator(".why").is_visible()
    assert not first.locator(".topic").is_visible()
    page.get_by_label("Verdict", exact=True).select_option("passed")
    assert first.locator(".topic").is_visible()  # there is no reason to show


def test_light_and_dark(visit: Visit, page_of: Pages) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    assert visit(color_scheme="light").open(page_of("order")).evaluate(paper) == "rgb(255, 255, 255)"
    dark = visit(color_scheme="dark").open(page_of("order"))
    assert dark.evaluate(paper) == "rgb(20, 23, 27)"
    dark.emulate_media(media="print")
    assert dark.evaluate(paper) == "rgb(255, 255, 255)"


def test_on_paper_the_rows_are_there_and_the_controls_are_not(visit: Visit, page_of: Pages) -> None:
    page = visit(width=680, color_scheme="dark").open(page_of("order"))  # as wide as A4
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".rows .row").count() == 40
    assert page.evaluate("document.documentElement.scrollWidth") == 680
    assert not page.locator(".filters").is_visible()
    assert page.pdf()[:5] == b"%PDF-"
