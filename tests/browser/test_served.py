"""Pages from `misstep serve`, as people use them."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest

from misstep.core.settings import Settings
from misstep.features.plan_test.run import run_agent
from misstep.store.runs import Store
from tests.browser.chromium import Visitor
from tests.features.serve.serving import served
from tests.features.serve.stored import keep_every_kind, keep_outcomes
from tests.rendering.html.test_page import outcome

pytestmark = pytest.mark.full

Visit = Callable[..., Visitor]
EVIL = ("<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>")
ALARM = "window.alert = () => { throw new Error('a script of theirs was run'); }"
LABELLED = """[...document.querySelectorAll('input:not([type=hidden]), select, textarea, button, progress')]
  .filter(each => !(each.labels?.length || each.getAttribute('aria-label') || each.textContent.trim()))
  .map(each => each.outerHTML)"""
HEADINGS = "[...document.querySelectorAll('h1, h2, h3, h4')].filter(each => each.checkVisibility()).map(each => Number(each.tagName[1]))"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
OUTLINE = "(() => { const style = getComputedStyle(document.activeElement); return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0; })()"


class Site:
    """A store with a run of every kind, and one that was written by somebody hostile."""

    def __init__(self, settings: Settings) -> None:
        self.runs: dict[str, str] = keep_every_kind(settings)
        self.other = run_agent(settings.overlay({"agent": "sim:idle", "count": 12})).run
        self.hostile = keep_outcomes(settings.overlay({"agent": EVIL[0]}), [outcome(evil) for evil in EVIL])
        with Store(settings.store) as store:
            self.case = next(store.outcomes(self.runs["test"], "failed")).case.id
        self.url = ""

    @property
    def paths(self) -> list[str]:
        """One page of each kind."""
        test = self.runs["test"]
        runs = [f"runs/{run}" for run in self.runs.values()]
        more = [f"runs/{test}/cases/{self.case}", f"compare?first={test}&second={self.other}", "compare"]
        more += [f"runs/{test}/trend", f"delete?run={self.other}", f"delete?run={test}"]
        more += [f"runs/{self.runs['files']}/tasks/fi1", f"runs/{test}/findings/none"]
        return ["", *runs, *more, f"runs/{self.runs['consistency']}/label", "runs/nothing"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    settings = Settings(store=str(tmp_path_factory.mktemp("served") / "store.db"))
    with ThreadPoolExecutor(1) as beside:  # the browser's event loop is in this thread
        site = beside.submit(Site, settings).result()
    with served(settings.store) as server:
        site.url = server.url
        yield site


def forgive_404(visitor: Visitor) -> None:
    visitor.complaints[:] = [each for each in visitor.complaints if "404" not in each and "400" not in each]


def test_from_the_list_to_a_case_and_back(visit: Visit, site: Site) -> None:
    page = visit().go(site.url)
    page.get_by_role("link", name=site.runs["test"], exact=True).click()
    page.locator("html[data-ready]").wait_for(state="attached")
    assert page.get_by_role("heading", level=1).inner_text() == f"sim:greedy · run {site.runs['test']}"
    page.locator("summary", has_text="Charts").click()
    page.locator(".charts canvas").first.wait_for()
    page.locator(".rows a").first.click()
    page.get_by_role("link", name="Own page").click()
    page.locator("html[data-ready]").wait_for(state="attached")
    assert page.url.endswith(f"/cases/{site.case}")
    page.locator(".headline.failed").wait_for()
    assert page.locator(".arrow.broken").count() >= 1
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: not url.endswith(site.case))
    page.locator("html[data-ready]").wait_for(state="attached")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(f"**/cases/{site.case}")
    page.get_by_role("link", name=f"← Run {site.runs['test']}").click()
    page.locator(".rows a").first.wait_for()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_every_page_is_sound(visit: Visit, site: Site, width: int, scheme: str) -> None:
    """Landmarks, headings, labels, colours; nothing is wider than the page, nothing complains."""
    visitor = visit(width, color_scheme=scheme)
    for path in site.paths:
        page = visitor.go(f"{site.url}{path}")
        assert page.evaluate(OVERFLOW) == 0, path
        assert page.locator("html").get_attribute("lang") == "en"
        assert page.title(), path
        assert page.get_by_role("main").count() == 1
        assert page.get_by_role("navigation", name="Pages").count() == 1
        headings = page.evaluate(HEADINGS)
        assert headings.count(1) == 1, path
        steps = pairwise(headings)
        assert headings[0] == 1, (path, headings)
        assert all(after - before <= 1 for before, after in steps), (path, headings)
        assert page.evaluate(LABELLED) == [], path
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
        assert dark == (scheme == "dark"), path
    forgive_404(visitor)


def test_with_nothing_but_the_keyboard(visit: Visit, site: Site) -> None:
    page = visit().go(site.url)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for _ in range(60):
        page.keyboard.press("Tab")
        assert page.evaluate(OUTLINE), page.evaluate("document.activeElement.outerHTML")
        if page.evaluate("document.activeElement.textContent") == site.runs["test"]:
            break
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{site.runs['test']}")
    page.locator("html[data-ready]").wait_for(state="attached")
    page.keyboard.press("/")
    assert page.evaluate(OUTLINE)
    page.keyboard.type(site.case)
    while not page.evaluate("document.activeElement.matches('.rows a')"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("article.case .headline").wait_for()
    page.keyboard.press("Escape")
    page.locator("article.case").wait_for(state="hidden")
    assert page.locator("#search").input_value() == site.case


def test_two_runs_are_picked_and_compared(visit: Visit, site: Site) -> None:
    visitor = visit()
    page = visitor.go(site.url)
    page.get_by_label(f"Select {site.runs['files']}").check()
    page.get_by_role("button", name="Compare two").click()
    assert "select two runs" in page.get_by_role("alert").inner_text()
    page.go_back()
    page.get_by_label(f"Select {site.runs['files']}").uncheck()
    page.get_by_label(f"Select {site.runs['test']}").check()
    page.get_by_label(f"Select {site.other}").check()
    page.get_by_role("button", name="Compare two").click()
    assert "compared with" in page.get_by_role("heading", level=1).inner_text()
    older, newer = site.runs["test"], site.other
    assert page.get_by_label("First").input_value() == older
    assert page.get_by_label("Second").input_value() == newer
    forgive_404(visitor)


def test_what_flipped_leads_to_both(visit: Visit, site: Site) -> None:
    page = visit().go(site.url)
    page.get_by_role("link", name="Compare", exact=True).click()
    page.get_by_label("First").select_option(site.runs["test"])
    page.get_by_label("Second").select_option(site.other)
    page.get_by_role("button", name="Compare").click()
    assert "points" in page.locator(".rate").inner_text()
    asked = page.locator(".changed p").first.inner_text()
    page.locator(".changed li").first.get_by_role("link").nth(1).click()
    page.locator(".headline").wait_for()
    assert f"/runs/{site.other}/cases/" in page.url
    assert asked.partition(".")[0] in page.locator(".sentences").first.inner_text().replace("\n", "")


def test_discoveries_are_labelled(visit: Visit, site: Site) -> None:
    page = visit().go(f"{site.url}runs/{site.runs['consistency']}")
    page.get_by_role("link", name="Label its results").click()
    page.get_by_label("Your name").fill("ann <b>")
    page.keyboard.press("Enter")
    total = int(page.locator(".where b").inner_text().split()[-1])
    for number in range(1, total + 1):
        assert page.locator(".where b").inner_text() == f"{number} of {total}"
        assert "ann <b>" in page.locator(".where").inner_text()
        if number == 1:
            page.get_by_role("button", name="Correct").click()
        else:
            page.locator("html[data-ready]").wait_for(state="attached")
            page.keyboard.press("c")
        page.wait_for_url(f"**/item/{number + 1}" if number < total else "**/done")
    assert not page.locator(".labels").count()
    assert f"All {total} are labelled" in page.get_by_role("main").inner_text()


@pytest.mark.parametrize(
    ("kind", "parts"), [("fuzz", "findings"), ("consistency", "sets"), ("files", "tasks")]
)
def test_parts_have_pages_of_their_own(visit: Visit, site: Site, kind: str, parts: str) -> None:
    page = visit().go(f"{site.url}runs/{site.runs[kind]}")
    entry = page.locator(f"[data-part^='{parts}/']").first
    entry.get_by_role("link", name="Own page").click()
    page.wait_for_url(f"**/runs/{site.runs[kind]}/{parts}/*")
    assert f"misstep replay {site.runs[kind]}/" in page.locator("pre.command").inner_text()
    first = page.get_by_role("heading", level=1).inner_text()
    page.keyboard.press("ArrowRight")
    page.get_by_role("link", name="Previous").wait_for()
    assert page.get_by_role("heading", level=1).inner_text() != first or kind == "consistency"
    page.get_by_role("link", name="← Run").click()
    page.wait_for_url(f"**/runs/{site.runs[kind]}")


def test_runs_of_one_command_over_time(visit: Visit, site: Site) -> None:
    page = visit().go(f"{site.url}runs/{site.runs['test']}")
    page.get_by_role("link", name="Trend").click()
    assert page.get_by_role("heading", level=1).inner_text().startswith("misstep plan test · sim:greedy")
    spots = page.locator("svg.trend a")
    rows = page.locator("tbody tr")
    assert spots.count() == rows.count() >= 1
    spots.first.click()
    page.wait_for_url("**/runs/*")


def test_whatever_they_say_is_text(visit: Visit, site: Site) -> None:
    visitor = visit()
    visitor.page.add_init_script(ALARM)
    page = visitor.go(site.url)
    assert EVIL[0] in page.locator(".runs").inner_text()
    page.goto(f"{site.url}runs/{site.hostile}")
    page.locator(".rows a").first.wait_for()
    assert page.locator("main img").count() == 0
    assert EVIL[0] in page.get_by_role("heading", level=1).inner_text()
    for place, evil in enumerate(EVIL):
        page.goto(f"{site.url}runs/{site.hostile}")
        page.locator(".rows a").nth(place).click()
        page.get_by_role("link", name="Own page").click()
        page.locator(".headline").wait_for()
        assert evil in page.get_by_role("heading", level=1).inner_text()
        assert f"backup{evil}" in page.locator("section.done").inner_text()
        assert evil in page.locator("section.asked .request").inner_text()
        assert page.locator("main img, main script").count() == 0


def test_the_token_leaves_the_address(visit: Visit, site: Site, tmp_path_factory: Any) -> None:
    visitor = visit()
    with served(str(tmp_path_factory.mktemp("token") / "store.db"), "--host", "0.0.0.0") as server:
        port, token = server.url.split(":")[-1].split("/?token=")
        page = visitor.go(f"http://localhost:{port}/?token={token}")
        assert page.url == f"http://localhost:{port}/"
        assert page.evaluate("document.cookie") == ""
        page.get_by_role("link", name="Compare").click()
        assert page.get_by_role("heading", level=1).inner_text() == "Compare two runs"
        page.context.clear_cookies()
        page.goto(f"http://localhost:{port}/")
        assert "this page needs the token" in page.inner_text("body")
        page.close()
    visitor.complaints[:] = [each for each in visitor.complaints if "403" not in each]
