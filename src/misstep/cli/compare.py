"""`misstep compare`: compare two runs on the cases that both have judged."""

import click
from rich.console import Console

from misstep.cli.options import settings_options
from misstep.cli.output import case_words, hint, print_json, quoted
from misstep.core.results.comparison import Comparison, TaskComparison
from misstep.core.settings import Settings
from misstep.rendering.comparison import comparison_view
from misstep.rendering.words import listed, subject_name
from misstep.runs import compare as api
from misstep.runs.lookup import find_run
from misstep.store.location import way_to

SHOWN_CASES = 5


@click.command("compare")
@click.argument("first")
@click.argument("second")
@settings_options("store", "json")
def compare(settings: Settings, first: str, second: str) -> int:
    """Compare two runs on what both have judged.

    That is their cases, or the tasks of a benchmark. FIRST and SECOND are runs; either may be
    shortened, or be 'last'.
    """
    comparison = api.compare(settings, first, second)
    if settings.json:
        print_json(comparison)
        return 0
    console = Console()
    names = [_name(settings, run) for run in (comparison.first, comparison.second)]
    console.print(comparison_view(comparison, *names))
    _show_cases(console, comparison, way_to(settings.store))
    return 0


def _name(settings: Settings, run: str) -> str:
    found = find_run(settings, run)
    return subject_name(found.settings, found.purpose)


def _show_cases(console: Console, comparison: Comparison | TaskComparison, place: str) -> None:
    for which, cases in (("first", comparison.lost), ("second", comparison.won)):
        if cases:
            names = listed([quoted(case) for case in cases], SHOWN_CASES)
            hint(console, f"only the {which} passed: {names}")
            loser = comparison.second if which == "first" else comparison.first
            hint(console, f"one in full: misstep show {case_words(loser, cases[0])}{place}", gap=False)
