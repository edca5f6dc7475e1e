"""The documentation site in a browser: search, light and dark, copy buttons, versions; and no other host is asked."""

import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.browser.chromium import Visitor
from tests.documents.site import build, needs_mkdocs

pytestmark = [pytest.mark.full, needs_mkdocs]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site as mike publishes it: in a folder of its version, below the list of versions."""
    folder = tmp_path_factory.mktemp("pages")
    done = build(folder / "dev")
    assert done.returncode == 0, done.stderr
    versions = [{"version": "dev", "title": "dev", "aliases": []}]
    (folder / "versions.json").write_text(json.dumps(versions))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/dev/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def site(visit: Callable[..., Visitor], address: str) -> Iterator[Visitor]:
    visitor = visit(color_scheme="light", permissions=["clipboard-read", "clipboard-write"])
    yield visitor
    assert len(visitor.requests) > 5
    assert [url for url in visitor.requests if not url.startswith(address.removesuffix("dev/"))] == []


def test_search_finds_a_page(site: Visitor, address: str) -> None:
    site.page.goto(address)
    assert site.page.locator(".md-version__current").inner_text() == "dev"
    site.page.keyboard.press("/")
    site.page.keyboard.type("paraphrase", delay=20)
    found = site.page.locator(".md-search-result__link").first
    found.wait_for()
    assert found.get_attribute("href").startswith(address)


@pytest.mark.parametrize(("mode", "shown"), [("light", "case-light.png"), ("dark", "case-dark.png")])
def test_pictures_follow_the_switch(site: Visitor, address: str, mode: str, shown: str) -> None:
    site.page.goto(address)
    for _ in range(1 if mode == "light" else 2):
        site.page.locator(".md-header__option label:visible").click()
    visible = site.page.locator(".md-content img:visible").evaluate_all("all => all.map(each => each.src)")
    assert [Path(src.partition("#")[0]).name for src in visible] == [shown]


def test_commands_are_copied_without_prompts_and_output(site: Visitor, address: str) -> None:
    site.page.goto(f"{address}tutorials/agent/")
    site.page.locator(".language-console [data-clipboard-target]").first.click()
    site.page.locator(".md-dialog--active").wait_for()
    copied = site.page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == "misstep plan test --agent agent.py:agent --group 1 --relative 0 --count 100"


@pytest.mark.parametrize("width", [390, 1400])
def test_pages_fit_the_window(site: Visitor, address: str, width: int) -> None:
    site.page.set_viewport_size({"width": width, "height": 900})
    for page in ("", "reference/settings/", "reference/measurements/", "explanation/comparison/"):
        site.page.goto(address + page)
        assert site.page.evaluate("document.documentElement.scrollWidth") <= width
