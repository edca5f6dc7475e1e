"""Measures how long the page of a large run takes to open."""

import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.measure import Effort, Mark, Row
from benchmarks.storing import fill_store
from misstep.core.settings import Settings
from misstep.rendering.html.page import run_page
from misstep.runs.reporting.statement import page_of

chromium: Any = import_module("tests.browser.chromium")  # what tests are made of is not typed strictly

CASES = 20_000
TIMES = 5
MEGABYTE = 1_000_000


def page_rows(effort: Effort) -> Iterator[Row]:
    cases, times = effort.size(CASES), effort.times(TIMES)
    program = chromium.find_program()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        seconds = _write(page, f"{folder}/store.db", cases)
        yield Row(f"page of {cases:,} cases, written", seconds, "s", "CPU time, from the store to the file")
        yield Row("… its size", page.stat().st_size / MEGABYTE, "MB", "one file", Mark("<", 20))
        opened = min(_waits(program, page, times)) if program else None
    how = f"Chromium, from the disk until the list can be used, best of {times}"
    yield Row("… opened", opened, "s", how, Mark("<", 2))


def _write(page: Path, store: str, cases: int) -> float:
    run = fill_store(store, 2, cases)
    began = time.process_time()
    page.write_text(run_page(page_of(Settings(store=store), run)), "utf-8")
    return time.process_time() - began


def _waits(program: str, page: Path, times: int) -> Iterator[float]:
    with chromium.running_browser(program) as browser:
        for _ in range(times):
            context = browser.new_context()
            began = time.perf_counter()
            chromium.Visitor(context).open(page).locator(".rows .row").first.wait_for()
            yield time.perf_counter() - began
            context.close()
