"""One case: what belongs together is shown together."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from misstep import test_planning as run_test
from tests.browser.chromium import Visitor

pytestmark = pytest.mark.full

Visit = Callable[..., Visitor]
Pages = Callable[[str], Path]


def open_first(visitor: Visitor, path: Path, state: str = "verdict=failed") -> Any:
    page = visitor.open(path, f"#{state}")
    page.locator(".rows a").first.click()
    page.locator("article.case .headline").wait_for()
    return page


def test_what_went_wrong_can_be_seen_at_once(visit: Visit, page_of: Pages) -> None:
    page = open_first(visit(), page_of("order"))
    headline = page.locator(".headline h2").inner_text()
    step = re.fullmatch(r"Failed at step (\d+): the wrong order", headline)
    assert step
    wrong = page.locator(".call.wrong")
    assert wrong.locator(".step").inner_text() == step[1]
    assert wrong.locator(".flag").inner_text() == "misstep"
    assert wrong.locator(".breaks").inner_text().startswith("breaks: ")
    assert page.locator(".headline").bounding_box()["y"] < 200


def test_an_arrow_for_every_broken_constraint_goes_back_in_time(visit: Visit, page_of: Pages) -> None:
    page = open_first(visit(), page_of("order"))
    broken = page.locator(".constraint.broken")
    numbers = [text.split("\n")[0] for text in broken.all_inner_texts()]
    arrows = page.locator(".arrow.broken")
    assert sorted(arrows.locator("text").all_text_contents()) == sorted(numbers)
    for arrow in arrows.all():
        assert arrow.is_visible()
        begins, ends = re.findall(
            r"^M[\d.]+ ([\d.]+).* ([\d.]+) H", arrow.locator(".line").get_attribute("d")
        )[0]
        assert float(begins) > float(ends)
    colour = "element => getComputedStyle(element.querySelector('.line')).stroke"
    assert arrows.first.evaluate(colour) == "rgb(179, 49, 26)"


def test_a_sentence_lights_up_what_it_means(visit: Visit, page_of: Pages) -> None:
    page = open_first(visit(), page_of("order"))
    sentence = page.locator(".sentence.broken").first
    numbers = sentence.locator("sup").all_inner_texts()
    sentence.hover()
    lit = page.locator(".constraint.lit .number").all_inner_texts()
    assert lit == numbers
    assert page.locator(".arrow.lit").count() == len(numbers)
    page.locator(".headline").hover()
    assert page.locator(".lit").count() == 0
    sentence.focus()
    page.keyboard.press("Enter")
    page.locator("nav .back").focus()
    assert sentence.get_attribute("aria-pressed") == "true"
    assert page.locator(".constraint.lit .number").all_inner_texts() == numbers
    page.locator(".constraint").first.focus()
    assert page.locator(".constraint.lit .number").all_inner_texts() == ["1"]


def test_a_day_is_drawn_to_scale(visit: Visit, page_of: Pages) -> None:
    page = open_first(visit(), page_of("timed"))
    tracks = page.locator(".call:not(.past) .track")
    pixels = set()
    for track in tracks.all():
        if not track.locator(".bar").count():
            continue
        times = re.fullmatch(r"(\d\d):(\d\d)–(\d\d):(\d\d)", track.locator(".times").inner_text())
        assert times
        minutes = 60 * (int(times[3]) - int(times[1])) + int(times[4]) - int(times[2])
        pixels.add(round(track.locator(".bar").bounding_box()["width"] / minutes, 2))
    assert len(pixels) == 1  # a minute is as wide in every row
    assert page.locator(".limit.broken").count() == page.locator(".overrun").count() > 0
    assert "time" in page.locator(".headline h2").inner_text() or page.locator(".arrow.broken").count()


def test_every_kind_of_failure_can_be_shown(visit: Visit, page_of: Pages) -> None:
    visitor = visit()
    page = open_first(visitor, page_of("families"), "")
    for _ in range(19):
        assert page.locator(".headline h2").inner_text()
        assert page.locator(".call, .gap").count()
        before = page.url
        page.keyboard.press("ArrowRight")
        page.wait_for_url(lambda url, before=before: url != before)
    assert visitor.complaints == []


def test_the_command_can_be_copied(visit: Visit, page_of: Pages) -> None:
    page = open_first(visit(permissions=["clipboard-read", "clipboard-write"]), page_of("order"))
    command = page.locator(".again code").inner_text()
    assert re.fullmatch(r"misstep replay \w+/\w+ --store \S+", command)
    button = page.locator(".again .copy")
    button.click()
    page.locator(".again .copy", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == command


def test_the_back_button_goes_back_to_the_list_as_it_was(visit: Visit, page_of: Pages) -> None:
    page = visit(height=500).open(page_of("order"), "#verdict=failed")
    page.locator(".rows a").nth(8).click()
    page.locator("article.case .headline").wait_for()
    assert not page.locator("#report").is_visible()
    page.go_back()
    page.locator(".rows").wait_for()
    assert page.url.endswith("#verdict=failed")
    assert page.evaluate("scrollY") > 0


def test_a_case_that_is_not_there(visit: Visit, page_of: Pages) -> None:
    page = visit().open(page_of("order"), "#case=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    assert "There is no such case" in page.locator("article.case").inner_text()
    assert page.locator("article.case img").count() == 0


def test_a_case_on_paper(visit: Visit, page_of: Pages) -> None:
    page = open_first(visit(color_scheme="dark"), page_of("timed"))
    page.emulate_media(media="print")
    assert not page.get_by_role("link", name="Next").is_visible()
    assert page.locator(".headline").is_visible()
    assert page.pdf()[:5] == b"%PDF-"


def test_the_pictures_of_a_notebook(visit: Visit, tmp_path: Path) -> None:
    """The same pictures as in a report, in a frame that the notebook holds."""
    with ThreadPoolExecutor(1) as beside:  # the browser's event loop is in this thread
        result = beside.submit(lambda: run_test(lambda request, tools: "no", count=4)).result()
        (tmp_path / "cell.html").write_text(f"<!doctype html><meta charset=utf-8>{result._repr_html_()}")
    page = visit().page
    page.goto((tmp_path / "cell.html").as_uri())
    frame = page.frame_locator("iframe.pictures")
    assert frame.locator(".headline").first.inner_text().startswith("Failed")
    assert frame.locator("details .case").count() == 4
    assert frame.locator(".nearest li").first.is_visible()
