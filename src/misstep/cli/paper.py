"""`misstep paper`: the experiments of the PDoctor paper, with any agents."""

from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console

from misstep.api import paper as api
from misstep.cli.display import make_display
from misstep.cli.options import AGENTS, settings_options
from misstep.cli.output import ours_alone, print_json
from misstep.core.replication import Question
from misstep.core.settings import BUDGETS, Settings, Span
from misstep.errors import UsageError
from misstep.report.paper import paper_view

LIMITS = {"timeout": 180.0, "max_steps": 50, "parallel": "ordered"}
PRESETS: dict[Question, tuple[str, dict[str, Any]]] = {
    "rq1": (
        "How many errors are found in an hour? 3 to 5 actions.",
        {"actions": Span(3, 5), "budget_time": api.MINUTES * 60},
    ),
    "rq2": (
        "How far do agents get, and why do they fail? 2 to 9 actions, 1,600 cases, 100 failures.",
        {"actions": Span(2, 9), "full": True, "method": "pdoctor"},
    ),
    "rq3": (
        "The same with time: 2 to 5 actions, 400 cases, 100 failures.",
        {"actions": Span(2, 5), "full": True, "method": "pdoctor", "timed": True},
    ),
}
SHARED = tuple(name for name in AGENTS if name not in ("agent", "model"))
ADJUSTABLE = ("actions", "seed", "per_pair", "most_cases", "method", "sample", "mutations", "most_runs")


@click.group("paper")
def paper_group() -> None:
    """The experiments of the PDoctor paper (section 6), with the paper's own figures beside yours."""


def _add(question: Question, summary: str, preset: dict[str, Any]) -> None:
    adjustable = ("actions", "seed") if question == "rq1" else ADJUSTABLE
    usual = {**LIMITS, **preset}

    @paper_group.command(question, help=summary)
    @click.option("--agent", "agents", multiple=True, metavar="AGENT", help="An agent; may be repeated.")
    @click.option("--model", "models", multiple=True, metavar="MODEL", help="A model; may be repeated.")
    @settings_options(*SHARED, *adjustable, "jobs", *BUDGETS, "store", "display", "json", usual=usual)
    def _(settings: Settings, agents: tuple[str, ...], models: tuple[str, ...]) -> int:
        return _replicate(question, _every(settings, agents, models))


def _every(settings: Settings, agents: Sequence[str], models: Sequence[str]) -> list[Settings]:
    """Each agent with each model."""
    agents = agents or [settings.agent]
    if not all(agents):
        raise UsageError("no agent was given", "name one or more, e.g. --agent react --agent tools")
    return [
        settings.overlay({"agent": agent, "model": model})
        for model in models or [settings.model]
        for agent in agents
    ]


def _replicate(question: Question, several: Sequence[Settings]) -> int:
    settings = several[0]
    with ours_alone() as screen, make_display(settings, screen) as display:
        replication = api.replicate(question, several, display)
    if settings.json:
        print_json(replication)
    else:
        Console().print(paper_view(replication))
    return 0


for _question, (_summary, _preset) in PRESETS.items():
    _add(_question, _summary, _preset)
