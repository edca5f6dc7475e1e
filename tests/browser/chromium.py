"""Chromium as tests use it: Debian's own, which asks nobody for anything."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
READY = "html[data-ready]"


def find_program() -> str | None:
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def running_browser(program: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield browser
        browser.close()


class Visitor:
    """Opens pages and remembers what they complain about: errors, broken policies, whatever they try to load."""

    def __init__(self, context: Any) -> None:
        self.page = context.new_page()
        self.complaints = list[str]()
        self.requests = list[str]()
        self.page.set_default_timeout(10_000)
        self.page.on("console", lambda message: self._hear(message.type, message.text))
        self.page.on("pageerror", lambda error: self._hear("error", str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _hear(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def go(self, url: str) -> Any:
        """A page from a server, once its scripts have done what they do at the start."""
        self.page.goto(url)
        if self.page.locator("script[src]").count():
            self.page.locator(READY).wait_for(state="attached")
        return self.page

    def open(self, path: Path, state: str = "") -> Any:
        """A file as a browser sees it that is opened from the disk, as soon as it can be used."""
        self.page.goto(f"{path.as_uri()}{state}", wait_until="commit")
        self.page.locator(READY).wait_for(state="attached")
        return self.page
