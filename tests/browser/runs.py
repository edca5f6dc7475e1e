"""Runs that pages are made of."""

from pathlib import Path

from misstep.core.constraint import FAMILIES
from misstep.core.settings import Settings, Span
from misstep.features.plan_test.run import run_agent
from misstep.rendering.html.page import run_page
from misstep.runs.reporting.statement import page_of

RUNS = {
    "order": Settings(agent="sim:greedy", count=40, actions=Span(3, 6)),
    "timed": Settings(agent="sim:stubborn", count=12, family=("order", "time")),
    "families": Settings(agent="sim:greedy", count=20, actions=Span(7, 9), family=FAMILIES),
}


def write_page(kind: str, folder: Path) -> Path:
    """The page of a fresh run of this kind."""
    settings = RUNS[kind].overlay({"store": str(folder / f"{kind}.db")})
    run = run_agent(settings).run
    page = folder / f"{kind}.html"
    page.write_text(run_page(page_of(settings, run)), "utf-8")
    return page
