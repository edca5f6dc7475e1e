"""`misstep paper`: the experiments of the PDoctor and ToolFuzz papers, with any agents."""

from collections.abc import Sequence

import click
from rich.console import Console

from misstep.cli.help import command
from misstep.cli.listeners import displayed
from misstep.cli.options import ABOUT_TRYING, settings_options
from misstep.cli.output import print_json, print_json_text
from misstep.core.settings import BUDGETS, Settings
from misstep.errors import UsageError
from misstep.features.papers import pdoctor as api
from misstep.features.papers.pdoctor import Question, Replication, paper_view
from misstep.features.papers.toolfuzz import compare_methods, methods_as_json, methods_view
from misstep.runs.setup.configuration import AGENTS, CALLING, SANDBOX_OPTIONS, TRYING, USUALLY_TRYING

SHARED = (*[name for name in AGENTS if name not in ("agent", "model")], "actions", "seed")
CURVES = ("per_pair", "most_cases", "method", "sample", "mutations", "most_runs")
RUNNING = ("jobs", *BUDGETS, "store", "display", "json")

agents_option = click.option("--agent", "agents", multiple=True, metavar="AGENT", help="Agent; repeatable.")
models_option = click.option("--model", "models", multiple=True, metavar="MODEL", help="Model; repeatable.")
use_option = click.option(
    "--use", multiple=True, metavar="RUN", help="Finished run of plan capability to reuse; repeatable."
)


@command(
    "rq1",
    "misstep paper rq1 --agent react --model openai/gpt-4o",
    "misstep paper rq1 --agent react --agent tools --model local --budget-time 10m",
    shown="actions seed jobs budget_usd budget_time json",
)
@agents_option
@models_option
@settings_options(*SHARED, *RUNNING, preset=api.PRESETS["rq1"])
def rq1(settings: Settings, agents: tuple[str, ...], models: tuple[str, ...]) -> int:
    """Count the errors found in an hour: Table 2."""
    return _carry_out("rq1", _every(settings, agents, models), ())


@command(
    "rq2",
    "misstep paper rq2 --agent react --agent tools --model openai/gpt-4o",
    "misstep paper rq2 --agent tools --model local --most-cases 30",
    shown="actions most_cases sample seed jobs budget_usd json",
)
@agents_option
@models_option
@use_option
@settings_options(*SHARED, *CURVES, *RUNNING, preset=api.PRESETS["rq2"])
def rq2(settings: Settings, agents: tuple[str, ...], models: tuple[str, ...], use: tuple[str, ...]) -> int:
    """Measure how far agents get, and why they fail.

    Figure 8 and Tables 3 to 5 of the PDoctor paper.
    """
    return _carry_out("rq2", _every(settings, agents, models, use), use)


@command(
    "rq3",
    "misstep paper rq3 --agent react --model openai/gpt-4o",
    "misstep paper rq3 --agent tools --model local --most-cases 30",
    shown="actions most_cases sample seed jobs budget_usd json",
)
@agents_option
@models_option
@use_option
@settings_options(*SHARED, *CURVES, *RUNNING, preset=api.PRESETS["rq3"])
def rq3(settings: Settings, agents: tuple[str, ...], models: tuple[str, ...], use: tuple[str, ...]) -> int:
    """Repeat rq2 with times and durations.

    Figure 9, Tables 6 and 7 of the PDoctor paper.
    """
    return _carry_out("rq3", _every(settings, agents, models, use), use)


def _every(
    settings: Settings, agents: Sequence[str], models: Sequence[str], used: Sequence[str] = ()
) -> list[Settings]:
    """Each agent with each model; without agents, only the settings, if there are runs to use."""
    agents = agents or ([settings.agent] if settings.agent else [])
    if not agents and not used:
        raise UsageError("no agent was given", "name one or more, e.g. --agent react --agent tools")
    if settings.dry_run:
        hint = "misstep plan capability --dry-run estimates one curve"
        raise UsageError("--dry-run is not supported here", hint)
    return [
        settings.overlay({"agent": agent, "model": model})
        for model in models or [settings.model]
        for agent in agents or [""]
    ]


def _carry_out(question: Question, several: Sequence[Settings], used: Sequence[str]) -> int:
    settings = several[0]
    with displayed(settings) as listeners:
        if question == "rq1":
            replication: Replication = api.detect_errors(several, *listeners)
        else:
            replication = api.examine_agents(question, several, used, *listeners)
    if settings.json:
        print_json(replication)
    else:
        Console().print(paper_view(replication))
    return 0


ABOUT = {
    **ABOUT_TRYING,
    "time_per_tool": "Time per tool and method, e.g. 90s or 5m (default: 5m).",
    "count": "Requests, or sets of requests, per tool and method.",
}


@command(
    "toolfuzz",
    "misstep paper toolfuzz shop.py:tools --agent tools --model openai/gpt-4o",
    "misstep paper toolfuzz shop.py:tools --use RUN --use RUN",
    shown="only agent model count time_per_tool sandbox jobs budget_usd json",
)
@click.argument("specs", metavar="SPEC...", nargs=-1)
@click.option("--use", multiple=True, metavar="RUN", help="Finished run to reuse; repeatable.")
@settings_options(
    *("only", *TRYING, "count", "requests_per_crash", "variants", "normalise", "context", "time_per_tool"),
    *("timeout", *SANDBOX_OPTIONS, *CALLING, "store", "display", "json"),
    usual=USUALLY_TRYING,
    about=ABOUT,
    shared_agent="real",
)
def toolfuzz(settings: Settings, specs: tuple[str, ...], use: tuple[str, ...]) -> int:
    """Count the errors that each method finds in tools.

    This is Table 1 of the ToolFuzz paper. It makes seven runs with the same limits, one after the other: four
    look for errors at run time, three for wrong answers. Budgets apply to each run. With --use, earlier runs
    are reused; without SPEC, only those are compared.
    """
    if not specs and not use:
        raise UsageError("no tools were given", "name them as file.py:name, or runs with --use")
    with displayed(settings) as listeners:
        comparison = compare_methods(settings, specs, use, *listeners)
    if settings.json:
        print_json_text(methods_as_json(comparison))
    else:
        Console().print(methods_view(comparison))
    return 0
