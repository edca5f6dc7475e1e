"""`make screenshots`: the pictures of the documentation, taken from real runs."""

import contextlib
import io
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from PIL import Image

from misstep.cli import run
from misstep.core.settings import Settings, Span
from misstep.features.capability.run import measure_capability
from misstep.features.plan_test.run import run_agent
from misstep.rendering.html.page import run_page
from misstep.runs.reporting.statement import page_of
from tests.browser.chromium import READY, Visitor, find_program, running_browser

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "images"
SIZES = {
    "report": (800, 1090),
    "case": (1000, 752),
    "runs": (1000, 645),
    "playground": (1000, 1030),
}
VIEWPORT = {"width": 1000, "height": 1100}
SCHEMES = ("light", "dark")
COMMAND = ("plan", "test", "--count", "200", "--seed", "1", "--fail-on", "none", "--display", "none")
AGENTS = ("sim:perfect", "sim:random", "sim:terminal", "sim:greedy")
COLOURS = 128


def main() -> None:
    program = find_program()
    if program is None:
        sys.exit("no Chromium is installed: make browser")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report, curve = write_report(folder), write_curve(folder)
        make_runs(folder)
        with serving(folder) as address, running_browser(program) as browser:
            for scheme in SCHEMES:
                with visiting(browser, scheme) as visitor:
                    take(visitor.open(curve), "report", scheme)
                    take_case(visitor, report, scheme)
                    take_runs(visitor, address, scheme)
                    take_playground(visitor, address, scheme)


def write_report(folder: Path) -> Path:
    """The page of a run on order."""
    settings = Settings(
        agent="sim:greedy", count=200, seed=1, actions=Span(3, 6), store=str(folder / "store.db")
    )
    page = folder / "report.html"
    page.write_text(run_page(page_of(settings, run_agent(settings).run)), "utf-8")
    return page


def write_curve(folder: Path) -> Path:
    """The page of a run on how many actions an agent can plan."""
    settings = Settings(
        agent="sim:capacity",
        agent_args={"half": "5", "spread": "0.7"},
        actions=Span(2, 7),
        store=str(folder / "curve.db"),
    )
    page = folder / "curve.html"
    page.write_text(run_page(page_of(settings, measure_capability(settings).run)), "utf-8")
    return page


def make_runs(folder: Path) -> None:
    """Runs for the list of runs."""
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        for agent in AGENTS:
            run([*COMMAND, "--agent", agent])


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of `misstep serve` on the runs in this folder."""
    command = [sys.executable, "-u", "-m", "misstep", "serve", "--port", "0"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout
        try:
            yield server.stdout.readline().strip()
        finally:
            server.send_signal(signal.SIGINT)


@contextlib.contextmanager
def visiting(browser: Any, scheme: str) -> Iterator[Visitor]:
    context = browser.new_context(
        viewport=VIEWPORT,
        color_scheme=scheme,
        device_scale_factor=1.5,
    )
    yield Visitor(context)
    context.close()


def take_case(visitor: Visitor, report: Path, scheme: str) -> None:
    """The first failure, with the arrow over its calls."""
    page = visitor.open(report, "#verdict=failed")
    page.locator(".rows a").first.click()
    page.locator(".arrow.broken").first.wait_for()
    take(page, "case", scheme)


def take_runs(visitor: Visitor, address: str, scheme: str) -> None:
    visitor.page.goto(address)
    take(visitor.page, "runs", scheme)


def take_playground(visitor: Visitor, address: str, scheme: str) -> None:
    """A problem in which somebody has made the first calls."""
    page = visitor.page
    page.goto(urljoin(address, "playground"))
    page.locator(READY).wait_for(state="attached")
    for number in range(2):
        page.locator(".tool button").nth(number).click()
        page.locator("#log li").nth(number).wait_for()
    take(page, "playground", scheme)


def take(page: Any, name: str, scheme: str) -> None:
    """A picture of the upper part."""
    width, height = SIZES[name]
    save(page.screenshot(clip={"x": 0, "y": 0, "width": width, "height": height}), name, scheme)


def save(taken: bytes, name: str, scheme: str) -> None:
    """A picture in few colours, which is all that a page has."""
    picture = Image.open(io.BytesIO(taken)).convert("RGB")
    small = picture.quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(PICTURES / f"{name}-{scheme}.png", optimize=True)


if __name__ == "__main__":
    main()
