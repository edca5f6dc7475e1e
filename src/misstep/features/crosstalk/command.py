"""`misstep tool crosstalk`: find tools that an agent calls for requests meant for others."""

from functools import partial

import click
from rich.console import Console

from misstep.cli.exit_policy import CommandResult
from misstep.cli.help import command
from misstep.cli.listeners import close_run, followed, watched
from misstep.cli.options import ABOUT_FAIL_ON, ABOUT_TRYING, KEEPING, settings_options
from misstep.cli.output import check_specs, point_to_page, print_json_text, to_report
from misstep.core.results.crosstalk import CrosstalkReport
from misstep.core.settings import CrosstalkSettings, RunSettings
from misstep.features.crosstalk.run import COUNT, find_crosstalk, resume_crosstalk, view_crosstalk
from misstep.features.crosstalk.view import MOST_REQUESTS, crosstalk_as_json, crosstalk_view
from misstep.runs.setup.configuration import CALLING, FUZZING, TRYING, USUALLY_TRYING
from misstep.store.location import way_to

USUAL = {**USUALLY_TRYING, "count": COUNT}
ABOUT = {
    **ABOUT_TRYING,
    "fail_on": ABOUT_FAIL_ON,
    "count": "Requests per group.",
    "from_run": "Take requests from an earlier run of tool consistency or tool fuzz --agent.",
    "jobs": "Groups tested concurrently.",
}
WITHOUT = ("only", "time_per_tool", "calls_per_tool", "tokens_per_tool", "usd_per_tool")


@command(
    "crosstalk",
    "misstep tool crosstalk mcp.json --agent tools --model openai/gpt-4o",
    "misstep tool crosstalk shop.py:tools --groups groups.toml --agent my_agent.py:make_agent",
    shown="agent model groups count from_run sandbox jobs budget_usd report resume",
)
@click.argument("specs", metavar="SPEC...", nargs=-1)
@settings_options(
    *("groups", "count", *[name for name in (*FUZZING, *TRYING) if name not in WITHOUT]),
    *("timeout", *CALLING, "fail_on", *KEEPING),
    usual=USUAL,
    about=ABOUT,
    shared_agent="real",
)
def crosstalk(settings: CrosstalkSettings, specs: tuple[str, ...]) -> int:
    """Find tools an agent calls for unrelated requests.

    The agent gets requests meant for one group of tools, but only the tools of the other groups: whatever it
    calls is a mistake. SPEC is as for `tool fuzz`. Groups come from a file, or from a model that reads the
    tools' documentation; requests come from a model or from an earlier run.
    """
    check_specs(settings, specs)
    report = followed(
        watched(settings),
        partial(resume_crosstalk, settings) if settings.resume else partial(find_crosstalk, settings, specs),
        partial(view_crosstalk, settings),
        partial(_finish, settings),
    )
    # The required share of judged requests for which no tool was called.
    ending = CommandResult.by_gate(settings, report.judged - report.activating, report.judged)
    close_run(settings, report.run, ending)
    _finish(settings, report)
    return ending.leave()


def _finish(settings: RunSettings, report: CrosstalkReport) -> None:
    if not to_report(settings):
        _show(settings, report)


def show_stored(settings: RunSettings, run: str, most: int) -> None:
    _show(settings, view_crosstalk(settings, run), most)


def _show(settings: RunSettings, report: CrosstalkReport, most: int = MOST_REQUESTS) -> None:
    if settings.json:
        print_json_text(crosstalk_as_json(report))
    else:
        console = Console()
        console.print(crosstalk_view(report, most))
        point_to_page(console, report.run, way_to(settings.store))
