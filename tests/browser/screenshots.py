"""`make screenshots`: the pictures of the documentation, taken from real runs."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME, TerminalTheme
from rich.text import Text

from misstep.cli import run
from misstep.core.settings import Settings, Span
from misstep.features.capability.run import measure_capability
from misstep.features.plan_test.run import run_agent
from misstep.rendering.html.page import run_page
from misstep.runs.reporting.statement import page_of
from tests.browser.chromium import READY, Visitor, find_program, running_browser

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "images"
KEPT = ROOT / "training" / "results"
SIZES = {
    "report": (800, 1030),
    "case": (1000, 575),
    "terminal": (840, 620),
    "runs": (1000, 510),
    "playground": (1000, 888),
}
VIEWPORT = {"width": 1000, "height": 1050}
SCHEMES = ("light", "dark")
COMMAND = ("plan", "test", "--agent", "sim:greedy", "--count", "200", "--seed", "1", "--fail-on", "none")
OTHERS = ("sim:perfect", "sim:random", "sim:terminal")
COLUMNS = 96
COLOURS = 128
LIGHT = TerminalTheme(
    (255, 255, 255),
    (36, 41, 47),
    [
        (36, 41, 47),
        (207, 34, 46),
        (17, 99, 41),
        (77, 45, 0),
        (9, 105, 218),
        (130, 80, 223),
        (27, 124, 131),
        (110, 119, 129),
    ],
)
THEMES = {"light": LIGHT, "dark": SVG_EXPORT_THEME}


def main() -> None:
    program = find_program()
    if program is None:
        sys.exit("no Chromium is installed: make browser")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report, curve, kept = write_report(folder), write_curve(folder), write_kept(folder)
        said = terminal_output(folder)
        with serving(folder) as address, running_browser(program) as browser:
            for scheme in SCHEMES:
                with visiting(browser, scheme) as visitor:
                    take(visitor.open(curve), "report", scheme)
                    take_figure(visitor.open(kept), scheme)
                    take_case(visitor, report, scheme)
                    take_terminal(visitor, folder, said, scheme)
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


def write_kept(folder: Path) -> Path:
    """The page of the embedded model's curves, which take hours to measure and are kept."""
    tuned, base = (str(KEPT / f"{name}.json") for name in ("local", "local-base"))
    with contextlib.redirect_stdout(io.StringIO()):
        run(["report", tuned, "--beside", base, "--published", "--report-dir", str(folder)])
    return folder / "local.html"


def terminal_output(folder: Path) -> str:
    """What a command says on a terminal, colours included."""
    os.environ.update(COLUMNS=str(COLUMNS), FORCE_COLOR="1", TERM="xterm-256color")
    said = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        for agent in OTHERS:
            run([*COMMAND, "--display", "none", "--agent", agent])
    with contextlib.chdir(folder), contextlib.redirect_stdout(said):
        run([*COMMAND, "--display", "none"])
    return f"$ misstep {' '.join(COMMAND[:-2])}\n{said.getvalue()}"


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of `misstep serve` on the runs in this folder."""
    command = [sys.executable, "-u", "-m", "misstep", "serve", "--port", "0"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout
        yield server.stdout.readline().strip()
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


def take_figure(page: Any, scheme: str) -> None:
    """The curves without the page round them."""
    save(page.locator("svg.figure").screenshot(), "capability", scheme)


def take_case(visitor: Visitor, report: Path, scheme: str) -> None:
    """The first failure, with the arrow over its calls."""
    page = visitor.open(report, "#verdict=failed")
    page.locator(".rows a").first.click()
    page.locator(".arrow.broken").first.wait_for()
    take(page, "case", scheme)


def take_terminal(visitor: Visitor, folder: Path, said: str, scheme: str) -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(said))
    file = folder / f"{scheme}.html"
    file.write_text(console.export_html(theme=THEMES[scheme], inline_styles=True), "utf-8")
    visitor.page.goto(file.as_uri())
    visitor.page.add_style_tag(
        content="body { margin: 16px } pre { font-size: 14px !important; line-height: 1.35 !important }"
    )
    take(visitor.page, "terminal", scheme)


def take_runs(visitor: Visitor, address: str, scheme: str) -> None:
    visitor.page.goto(address)
    take(visitor.page, "runs", scheme)


def take_playground(visitor: Visitor, address: str, scheme: str) -> None:
    """A problem in which somebody has made the first calls."""
    page = visitor.page
    page.goto(f"{address}playground")
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
