"""Runs that are started, watched and stopped in a browser, through `misstep serve` as people start it."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from misstep.core.settings import Settings, Span
from misstep.runs.lookup import find_run, list_runs
from tests.browser.chromium import READY, Visitor
from tests.features.serve.serving import Served, served

pytestmark = pytest.mark.full

Visit = Callable[..., Visitor]
SLOW = """
import asyncio, os, pathlib
pathlib.Path("pid").write_text(str(os.getpid()))
async def agent(request, tools):
    await asyncio.sleep(600)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the server is started: with an agent that takes for ever. Whatever it runs ends with the test."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "misstep.toml").write_text('agent = "slow.py:agent"\n')
    yield tmp_path
    with suppress(FileNotFoundError, ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


@pytest.fixture
def server(folder: Path) -> Iterator[Served]:
    with served("store.db") as server:
        yield server


def fill_in(page: Any, url: str, agent: str, count: int = 8) -> None:
    page.goto(f"{url}start/")
    page.get_by_label("Agent").select_option(agent)
    page.get_by_label("Cases").fill(str(count))
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/runs/*")


def test_a_run_is_started_and_watched_to_its_end(server: Served, visit: Visit) -> None:
    page = visit().page
    page.goto(server.url)
    page.get_by_role("link", name="Start").click()
    assert page.get_by_label("Agent").input_value() == "slow.py:agent"
    assert "(as configured)" in page.get_by_label("Agent").inner_text()
    page.get_by_label("Agent").select_option("sim:greedy")
    page.get_by_label("Most actions").fill("6")
    page.get_by_label("Cases").fill("9")
    page.get_by_label("choice").check()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/runs/*")
    page.locator(READY).wait_for(state="attached")
    page.get_by_text("9 of 9").or_(page.locator(".rate")).first.wait_for()
    run = find_run(Settings(store="store.db"), page.url.rpartition("/")[2])
    kept = run.settings
    assert (kept.agent, kept.actions, kept.count) == ("sim:greedy", Span(3, 6), 9)
    assert kept.family == ("order", "choice")


def test_a_run_is_stopped_where_it_is_watched(server: Served, visit: Visit) -> None:
    page = visit().page
    fill_in(page, server.url, "slow.py:agent")
    stop = page.get_by_role("button", name="Stop the run")
    stop.wait_for()
    stop.focus()
    page.keyboard.press("Enter")
    page.locator(".state", has_text="Stopped").wait_for(timeout=30_000)
    stop.wait_for(state="hidden")
    run = page.url.rpartition("/")[2]
    assert f"misstep plan test --resume {run}" in page.locator(".resume").inner_text()
    page.reload()
    page.locator(READY).wait_for(state="attached")
    assert stop.count() == 0


def test_a_run_outlives_the_server(visit: Visit, folder: Path) -> None:
    visitor = visit()
    with served("store.db") as server:
        fill_in(visitor.page, server.url, "slow.py:agent")
        visitor.page.goto("about:blank")
        server.stop()
        (listed,), _ = list_runs(Settings(store="store.db"))
        assert listed.live
        with served("store.db") as another:
            page = visitor.page
            page.goto(f"{another.url}runs/{listed.run.id}")
            page.locator(".state", has_text="Running").wait_for()
            assert page.get_by_role("button", name="Stop the run").count() == 0  # it is not this server's


def test_what_went_wrong_is_told_in_the_form(server: Served, visit: Visit, folder: Path) -> None:
    (folder / "slow.py").write_text("raise OSError('<img src=x onerror=alert(1)>')\n")
    visitor = visit()
    page = visitor.page
    page.goto(f"{server.url}start/")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("alert").wait_for()
    assert "<img src=x onerror=alert(1)>" in page.get_by_role("alert").inner_text()
    assert page.locator("main img").count() == 0
    page.get_by_label("Agent").wait_for()
    visitor.complaints.clear()  # of the browser, about a page that says 400


def test_the_forms_can_be_heard_and_fit_a_phone(server: Served, visit: Visit) -> None:
    page = visit(width=360, height=740).page
    page.goto(f"{server.url}start/")
    unnamed = "[...document.querySelectorAll('main :is(input:not([type=hidden]), select)')].filter((one) => !one.labels.length).length"
    assert page.evaluate(unnamed) == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.locator("nav [aria-current]").inner_text() == "Start"


def test_the_playground_stands_among_the_others(server: Served, visit: Visit) -> None:
    page = visit().page
    page.goto(server.url)
    page.get_by_role("link", name="Playground").click()
    page.locator(READY).wait_for(state="attached")
    assert page.locator("nav [aria-current]").inner_text() == "Playground"
    page.get_by_role("button", name="Let sim:perfect try it").click()
    page.locator("#case .headline.passed").wait_for()
    page.locator(".tool button").first.click()
    page.locator("#log li").first.wait_for()
