"""`misstep paper toolfuzz`: ways to find errors in tools, held against each other."""

import click
from rich.console import Console

from misstep.api.methods import compare_methods
from misstep.cli.groups import ABOUT_TRYING, CALLING, SHELTER, TRYING, USUALLY_TRYING
from misstep.cli.listeners import displayed
from misstep.cli.options import settings_options
from misstep.cli.output import print_json_text
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.report.methods import methods_as_json, methods_view

ABOUT = {
    **ABOUT_TRYING,
    "only": "The name of a tool to test; may be repeated (default: all).",
    "time_per_tool": "How long each method may take over a tool, e.g. 90s or 5m.",
    "count": "How many requests, or sets of them, for each tool and method.",
}


@click.command("toolfuzz")
@click.argument("specs", metavar="SPEC...", nargs=-1)
@click.option(
    "--use", multiple=True, metavar="RUN", help="A finished run to be used as it is; may be repeated."
)
@settings_options(
    "only",
    *TRYING,
    "count",
    "requests_per_crash",
    "variants",
    "normalise",
    "context",
    "time_per_tool",
    "timeout",
    *SHELTER,
    *CALLING,
    "store",
    "display",
    "json",
    usual=USUALLY_TRYING,
    about=ABOUT,
)
def toolfuzz(settings: Settings, specs: tuple[str, ...], use: tuple[str, ...]) -> int:
    """Count the errors that each method finds in tools.

    This is Table 1 of the ToolFuzz paper. Seven runs, each under the same limits, one after the other: four
    look for errors at run time, three for
    wrong answers. Budgets hold for each run. With --use, runs that were made before take their places;
    without SPEC, there are no others.
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
