"""`misstep compare`: two runs on the cases that they have in common."""

import click
from rich.console import Console

from misstep.api.comparison import compare_runs
from misstep.api.runs import view_run
from misstep.cli.options import settings_options
from misstep.cli.output import hint, print_json, quoted
from misstep.core.comparison import Comparison
from misstep.core.settings import Settings, store_flag
from misstep.report.comparison import comparison_view
from misstep.report.naming import IN_FULL, agent_name
from misstep.report.statistics import listed
from misstep.store.location import shown

SHOWN_CASES = 5


@click.command("compare")
@click.argument("first")
@click.argument("second")
@settings_options("store", "json")
def compare(settings: Settings, first: str, second: str) -> int:
    """Compare two runs on the cases that both have judged.

    FIRST and SECOND are runs; either may be shortened, or be 'last'.
    """
    comparison = compare_runs(settings, first, second)
    if settings.json:
        print_json(comparison)
        return 0
    console = Console()
    names = [_name(settings, run) for run in (comparison.first, comparison.second)]
    console.print(comparison_view(comparison, *names))
    _show_cases(console, comparison, store_flag(shown(settings.store)))
    return 0


def _name(settings: Settings, run: str) -> str:
    """What a run is of."""
    return agent_name(view_run(settings, run, 0).run.settings, IN_FULL)


def _show_cases(console: Console, comparison: Comparison, place: str) -> None:
    for which, cases in (("first", comparison.lost), ("second", comparison.won)):
        if cases:
            names = listed([quoted(case) for case in cases], SHOWN_CASES)
            hint(console, f"only the {which} passed: {names}")
            loser = comparison.second if which == "first" else comparison.first
            hint(console, f"one in full: misstep show {loser} {quoted(cases[0])}{place}", gap=False)
