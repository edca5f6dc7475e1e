"""`misstep tool crosstalk`: requests for some tools that set off others."""

import click
from rich.console import Console

from misstep.api import crosstalk as api
from misstep.cli.display import make_display
from misstep.cli.options import ABOUT_TRYING, FUZZING, TRYING, settings_options
from misstep.cli.output import ours_alone, print_json_text
from misstep.cli.watching import Started
from misstep.core.crosstalk import CrosstalkReport
from misstep.core.settings import BUDGETS, Settings, parse_gate
from misstep.errors import BudgetExceeded, Interrupted, UsageError
from misstep.report.crosstalk import MOST_REQUESTS, crosstalk_as_json, crosstalk_view

USUAL = {"timeout": 10.0, "jobs": 2, "count": 5}
ABOUT = {
    **ABOUT_TRYING,
    "count": "How many requests for each group.",
    "from_run": "A run of tool consistency, or tool fuzz --agent, to take requests from.",
    "jobs": "Groups tried at a time.",
}
WITHOUT = ("only", "time_per_tool", "calls_per_tool", "tokens_per_tool", "usd_per_tool")


@click.command("crosstalk")
@click.argument("specs", metavar="SPEC...", nargs=-1)
@settings_options(
    "groups",
    "count",
    *[name for name in (*FUZZING, *TRYING) if name not in WITHOUT],
    "timeout",
    "python",
    "seed",
    "jobs",
    *BUDGETS,
    "fail_on",
    "resume",
    "store",
    "display",
    "json",
    usual=USUAL,
    about=ABOUT,
)
def crosstalk(settings: Settings, specs: tuple[str, ...]) -> int:
    """Find tools that agents call for what is none of their business.

    Requests that are meant for one group of tools are put to the agent with the tools of all other groups
    only: whatever it calls then was not meant. SPEC is as for `tool fuzz`. Groups come from a file, or from
    a model that has read what is said about the tools; requests from a model, or from an earlier run.
    """
    _check(settings, specs)
    started = Started()
    try:
        with ours_alone() as screen, make_display(settings, screen) as display:
            if settings.resume:
                report = api.resume_crosstalk(settings, started, display)
            else:
                report = api.find_crosstalk(settings, specs, started, display)
    except (BudgetExceeded, Interrupted):
        if started.run:
            _show(settings, api.view_crosstalk(settings, started.run))
        raise
    _show(settings, report)
    return _exit_code(report, settings)


def show_stored(settings: Settings, run: str, most: int) -> None:
    _show(settings, api.view_crosstalk(settings, run), most)


def _check(settings: Settings, specs: tuple[str, ...]) -> None:
    if settings.resume and specs:
        raise UsageError(f"{specs[0]} can't go with --resume", "the run to be resumed knows its tools")
    if not settings.resume and not specs:
        raise UsageError("no tools were given", "name them as file.py:name, mcp:COMMAND or mcp.json")


def _show(settings: Settings, report: CrosstalkReport, most: int = MOST_REQUESTS) -> None:
    if settings.json:
        print_json_text(crosstalk_as_json(report))
    else:
        Console().print(crosstalk_view(report, most))


def _exit_code(report: CrosstalkReport, settings: Settings) -> int:
    """0 if the gate is passed: so many of the requests that were judged have to lead nowhere."""
    demanded = parse_gate(settings.fail_on)
    quiet = report.judged - report.activating
    return int(demanded is not None and quiet < demanded * report.judged)
