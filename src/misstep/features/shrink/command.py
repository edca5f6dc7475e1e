"""`misstep plan shrink`: find the smallest request that still fails."""

import re
import sys

import click
from rich.console import Console

from misstep.cli.exit_policy import CommandResult
from misstep.cli.help import command
from misstep.cli.listeners import close_run, watched
from misstep.cli.options import ABOUT_TYPED, RUNNING, TYPED, run_argument, settings_options
from misstep.cli.output import announce, hint, print_json, quoted, subject, to_report
from misstep.core.results.diagnosis import Reduction
from misstep.core.settings import BUDGETS, RunSettings, ShrinkSettings
from misstep.errors import UsageError
from misstep.features.shrink.run import estimate_shrinking, resume_shrinking, shrink_case, view_reduction
from misstep.features.shrink.view import reduction_view, regression_test
from misstep.runs.lookup import find_run, view_run
from misstep.store.files import refuse_unwritable, write_text
from misstep.store.location import way_to


@command(
    "shrink",
    "misstep plan shrink last f4c986843eb2",
    "misstep plan shrink last/f4c986843eb2 --emit pytest --out test_shrunk.py",
    shown="most_runs confidence budget_usd out report resume",
)
@run_argument("run", required=False)
@click.argument("case", required=False)
@click.option("--emit", type=click.Choice(["pytest"]), help="Also write a regression test to --out.")
@settings_options(
    *("confidence", "most_runs", *BUDGETS, "out", "agent", "python", *RUNNING),
    preset=TYPED,
    about={**ABOUT_TYPED, "most_runs": "Maximum agent runs per failure (default: 500)."},
)
def shrink(settings: ShrinkSettings, run: str | None, case: str | None, emit: str | None) -> int:
    """Find the smallest request that still fails.

    RUN and CASE name the failure, as two words or as RUN/CASE.
    """
    run = subject(settings, run, "the run and case to shrink")
    if "/" in run and case is None:
        run, case = run.split("/", 1)
    if not settings.resume and not (run and case):
        raise UsageError("no case was given", f"misstep show {run} lists those that failed")
    if settings.dry_run:
        return announce(settings, lambda: estimate_shrinking(settings, run, case or ""))
    if settings.out and not emit:
        raise UsageError("--out requires --emit pytest", "add --emit pytest, or omit it")
    if emit and settings.out == "-":
        raise UsageError("the test can't be written to standard output", "name a file with --out")
    if emit:
        refuse_unwritable(settings.out or "test_misstep.py", "name another file with --out")
    with watched(settings) as listeners:
        if settings.resume:
            small, found = resume_shrinking(settings, *listeners)
        else:
            small, found = shrink_case(settings, run, case or "", *listeners)
    close_run(settings, small, CommandResult(int(found.outcome is not None)))
    if emit and found.outcome:
        path = settings.out or f"test_misstep_{re.sub('[^0-9A-Za-z_-]', '_', found.case.id)[:60]}.py"
        write_text(path, regression_test(found, find_run(settings, small).settings))
        print(f"a regression test is in {path}: run it with pytest {path}", file=sys.stderr)
    if not to_report(settings):
        _show(settings, small, found)
    return int(found.outcome is not None)


def show_stored(settings: RunSettings, run: str, _: int) -> None:
    found = view_reduction(settings, run)
    if found:
        _show(settings, run, found)
    elif settings.json:
        print_json(view_run(settings, run, 0).summary)


def _show(settings: RunSettings, run: str, found: Reduction) -> None:
    if settings.json:
        print_json(found)
        return
    console = Console()
    console.print(reduction_view(found))
    if found.outcome:
        place = way_to(settings.store)
        hint(console, f"Replay: misstep replay {quoted(f'{run}/{found.outcome.case.id}')}{place}")
