"""`misstep rejudge`: check the verdicts of a stored run."""

import click
from rich.console import Console
from rich.text import Text

from misstep.api.rejudging import rejudge as judge_again
from misstep.cli.options import settings_options
from misstep.cli.output import hint, print_json
from misstep.core.rejudging import Rejudgement
from misstep.core.settings import Settings
from misstep.core.verdict import Verdict
from misstep.report.layout import bare_table
from misstep.report.text import plain
from misstep.store.location import way_to

SHOWN = 20


@click.command("rejudge")
@click.argument("run")
@settings_options("store", "json")
def rejudge(settings: Settings, run: str) -> int:
    """Check the verdicts of a run against its recorded calls.

    No agent is loaded or run. RUN may be shortened, or be 'last'.

    Exit code 1: a stored verdict is not the one that the calls deserve.
    """
    found = judge_again(settings, run)
    if settings.json:
        print_json(found)
    else:
        _show(found, way_to(settings.store))
    return int(bool(found.differences))


def _show(found: Rejudgement, place: str) -> None:
    console = Console()
    console.print(f"{found.confirmed:,} of {found.cases:,} verdicts confirmed (run {found.run})")
    if not found.differences:
        return
    table = bare_table()
    for heading in ("case", "stored", "judged again", "why"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "case")
    for each in found.differences[:SHOWN]:
        cells = each.case, _in_short(each.stored), _in_short(each.judged), each.judged.explanation
        table.add_row(*(Text(plain(cell, 500)) for cell in cells))
    console.print(table)
    more = len(found.differences) - SHOWN
    if more > 0:
        hint(console, f"{more:,} more: misstep rejudge {found.run} --json{place}")


def _in_short(verdict: Verdict) -> str:
    step = f" at step {verdict.step}" if verdict.step else ""
    return f"{verdict.verdict}: {verdict.error}{step}" if verdict.error else verdict.verdict
