"""Runs that pages are made of."""

from pathlib import Path

from misstep.api import plan
from misstep.api.findings import gather
from misstep.core.constraint import FAMILIES
from misstep.core.settings import Settings, Span
from misstep.report.page import run_page

RUNS = {
    "order": Settings(agent="sim:greedy", count=40, actions=Span(3, 6)),
    "timed": Settings(agent="sim:stubborn", count=12, family=("order", "time")),
    "families": Settings(agent="sim:greedy", count=20, actions=Span(7, 9), family=FAMILIES),
}


def write_page(kind: str, folder: Path) -> Path:
    """The page of a fresh run of this kind."""
    settings = RUNS[kind].overlay({"store": str(folder / f"{kind}.db")})
    run = plan.run_agent(settings).run
    page = folder / f"{kind}.html"
    page.write_text(run_page(gather(settings, run)), "utf-8")
    return page
