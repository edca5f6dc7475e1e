"""`misstep plan shrink`: the smallest problem that still fails."""

import sys

import click
from rich.console import Console

from misstep.api import shrinking as api
from misstep.api.runs import view_run
from misstep.cli.display import make_display
from misstep.cli.options import settings_options
from misstep.cli.output import hint, ours_alone, print_json, quoted, subject, to_report
from misstep.cli.reports import make_reports
from misstep.core.reduction import Reduction
from misstep.core.settings import BUDGETS, Settings, store_flag
from misstep.errors import UsageError
from misstep.report.reduction import reduction_view
from misstep.report.regression import regression_test
from misstep.store.files import write_text
from misstep.store.location import shown


@click.command("shrink")
@click.argument("run", required=False)
@click.argument("case", required=False)
@click.option("--emit", type=click.Choice(["pytest"]), help="Write a regression test as well, to --out.")
@settings_options(
    "confidence",
    "most_runs",
    *BUDGETS,
    "on",
    "ray_address",
    "resume",
    "store",
    "out",
    "report",
    "report_dir",
    "display",
    "json",
)
def shrink(settings: Settings, run: str | None, case: str | None, emit: str | None) -> int:
    """Find the smallest problem on which an agent still fails like it did on a case of a run.

    RUN and CASE name the failure, as two words or as RUN/CASE.
    """
    run = subject(settings, run, "the run and the case to be shrunk")
    if run and "/" in run and case is None:
        run, case = run.split("/", 1)
    if run and not case:
        raise UsageError("no case was given", f"misstep show {run} lists those that failed")
    with (
        ours_alone() as screen,
        make_display(settings, screen) as display,
        make_reports(settings, screen.stdout) as reports,
    ):
        if settings.resume:
            small, found = api.resume_shrinking(settings, display, *reports)
        else:
            small, found = api.shrink_case(settings, run, case or "", display, *reports)
    if emit and found.outcome:
        _write_test(settings, small, found)
    if not to_report(settings):
        _show(settings, small, found)
    return int(found.outcome is not None)


def _write_test(settings: Settings, run: str, found: Reduction) -> None:
    path = settings.out or f"test_misstep_{found.case.id}.py"
    write_text(path, regression_test(found, view_run(settings, run, 0).run.settings))
    if path != "-":
        print(f"a regression test is in {path}: run it with pytest {path}", file=sys.stderr)


def show_stored(settings: Settings, run: str, _: int) -> None:
    found = api.view_reduction(settings, run)
    if found:
        _show(settings, run, found)


def _show(settings: Settings, run: str, found: Reduction) -> None:
    if settings.json:
        print_json(found)
        return
    console = Console()
    console.print(reduction_view(found))
    if found.outcome:
        place = store_flag(shown(settings.store))
        hint(console, f"again: misstep replay {quoted(f'{run}/{found.outcome.case.id}')}{place}")
