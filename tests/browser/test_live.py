"""A run that goes on while its page is open, in a process that knows nothing of the page."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chromium import Visitor
from tests.browser.gated import Gated, gated_run
from tests.features.serve.serving import served

pytestmark = pytest.mark.full

Visit = Callable[..., Visitor]
COUNT = 8
SAID = "([text]) => document.querySelector('{place}')?.textContent.includes(text)"


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "store.db")


@pytest.fixture
def run(tmp_path: Path, store: str) -> Iterator[Gated]:
    with gated_run(tmp_path, store, COUNT) as run:
        yield run


@pytest.fixture
def page(visit: Visit, run: Gated, store: str) -> Iterator[Any]:
    with served(store) as server:
        visitor = visit(height=600)
        yield visitor.go(f"{server.url}runs/last")
        visitor.page.close()


def wait_for(page: Any, place: str, text: str) -> None:
    page.wait_for_function(SAID.format(place=place), arg=[text], timeout=30_000)


def test_counts_rise_until_it_is_done(page: Any, run: Gated) -> None:
    wait_for(page, "#live .state", f"Running 0 of {COUNT} cases")
    assert page.locator("#live progress").evaluate("bar => [bar.value, bar.max]") == [0, COUNT]
    run.let(2)
    wait_for(page, "#live .state", f"2 of {COUNT} cases")
    wait_for(page, ".filters .said", "2 cases")
    assert page.locator(".rows .row").count() == 2
    run.let(COUNT - 2)
    wait_for(page, "#live .state", f"Finished {COUNT} of {COUNT} cases")
    wait_for(page, ".filters .said", f"{COUNT} cases")
    wait_for(page, "dl.tiles", f"cases{COUNT}")
    verdicts = page.locator(".rows .verdict").all_inner_texts()
    failed = page.locator(".tiles div", has_text="failed").inner_text()
    assert failed.split() == ["failed", str(sum(verdict != "passed" for verdict in verdicts))]
    assert page.locator("p", has_text="95 % interval").count() == 1  # one number, in one place
    status = page.locator("#live [role=status]")
    assert status.inner_text().startswith(f"Finished: {COUNT} of {COUNT} cases.")
    page.reload()
    assert page.locator("#live").count() == 0
    assert run.process.wait() == 1


def test_nothing_is_taken_from_whoever_types(page: Any, run: Gated) -> None:
    run.let(3)
    wait_for(page, ".filters .said", "3 cases")
    wanted = page.locator(".rows a").first.inner_text()
    page.keyboard.press("/")
    page.keyboard.type(wanted)
    page.keyboard.press("ArrowLeft")
    page.evaluate("scrollTo(0, 150)")
    before = page.evaluate("scrollY")
    assert before > 0
    run.let(2)
    wait_for(page, ".filters .said", "1 of 5 cases")
    search = page.locator("#search")
    caret = search.evaluate("box => document.activeElement === box && box.selectionStart")
    assert (search.input_value(), caret) == (wanted, len(wanted) - 1)
    assert page.evaluate("scrollY") == before
    assert page.url.endswith(f"#q={wanted}")


def test_the_focus_stays_on_its_row(page: Any, run: Gated) -> None:
    run.let(3)
    wait_for(page, ".filters .said", "3 cases")
    page.locator(".rows a").first.focus()
    page.keyboard.press("ArrowDown")
    before = page.evaluate("document.activeElement.textContent")
    run.let(3)
    wait_for(page, ".filters .said", "6 cases")
    assert page.evaluate("document.activeElement.textContent") == before
    page.locator("#search").focus()
    page.get_by_label("Verdict", exact=True).focus()
    run.let(1)
    wait_for(page, ".filters .said", "7 cases")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Verdict"


def test_a_case_is_read_in_peace(page: Any, run: Gated) -> None:
    run.let(2)
    wait_for(page, ".filters .said", "2 cases")
    page.locator(".rows a").first.click()
    page.locator("article.case .headline").wait_for()
    run.let(COUNT - 2)
    wait_for(page, "#live .state", "Finished")
    assert page.locator("article.case .headline").is_visible()
    page.keyboard.press("Escape")
    wait_for(page, ".filters .said", f"{COUNT} cases")


def test_a_server_that_comes_back_is_found_again(visit: Visit, run: Gated, store: str) -> None:
    visitor = visit()
    with served(store) as server:
        visitor.go(f"{server.url}runs/last")
        wait_for(visitor.page, "#live .state", "Running")
        port = server.url.split(":")[-1].strip("/")
        server.stop()
        wait_for(visitor.page, "#live .state", "Waiting for the server")
    run.let(2)
    with served(store, "--port", port):
        wait_for(visitor.page, "#live .state", f"2 of {COUNT} cases")
        visitor.page.close()
    assert all("ERR_" in complaint for complaint in visitor.complaints)
    visitor.complaints.clear()


def test_a_run_that_was_left_says_how_to_go_on(visit: Visit, tmp_path: Path, store: str) -> None:
    with gated_run(tmp_path, store, COUNT) as run:
        run.process.kill()
        run.process.wait()
    with served(store) as server:
        page = visit().go(f"{server.url}runs/last")
        wait_for(page, "#live .state", "Stopped")
        name = page.url.rpartition("/")[2]
        assert f"misstep plan test --resume {name} --store" in page.locator(".resume").inner_text()
        page.goto(server.url)
        assert "unfinished" in page.locator(".runs").inner_text()
        page.close()
