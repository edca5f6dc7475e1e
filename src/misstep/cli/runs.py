"""`misstep runs` and `show`: what has been run."""

import click
import msgspec
from rich.console import Console

from misstep.api import runs as api
from misstep.cli.options import settings_options
from misstep.cli.output import hint, print_json, quoted
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings, store_flag
from misstep.core.summary import Summary
from misstep.report.case import case_view
from misstep.report.terminal import RunRow, failures_table, runs_table, summary_table
from misstep.store.location import shown
from misstep.store.runs import Run


class RunLine(msgspec.Struct, frozen=True):
    run: str
    started: float
    total: int
    done: int
    agent: str
    model: str | None
    live: bool
    summary: Summary | None


class RunList(msgspec.Struct, frozen=True):
    """What `misstep runs --json` prints."""

    runs: list[RunLine]


@click.command("runs")
@click.option(
    "--most", type=click.IntRange(0, 10**9), default=50, show_default=True, help="How many runs to list."
)
@settings_options("store", "json")
def runs(settings: Settings, most: int) -> int:
    """List the runs in the store, the newest first. As JSON, all of them."""
    found, total = api.list_runs(settings, None if settings.json else most)
    if settings.json:
        print_json(RunList([_line(listed.run, listed.live) for listed in found]))
    elif total:
        console = Console()
        console.print(runs_table([_row(listed.run, listed.live) for listed in found]))
        if total > most:
            hint(console, f"… and {total - most} more: --most {total} lists them all", gap=False)
    else:
        Console().print("no runs yet", style="dim")
    return 0


def _line(run: Run, live: bool) -> RunLine:
    model = run.settings.model or None
    return RunLine(run.id, run.started, run.total, run.done, run.settings.agent, model, live, run.summary)


def _row(run: Run, live: bool) -> RunRow:
    return RunRow(run.id, run.started, run.total, run.done, run.settings, live, run.summary)


@click.command("show")
@click.argument("run")
@click.argument("case", required=False)
@click.option(
    "--most", type=click.IntRange(0, 10**9), default=20, show_default=True, help="How many failures to list."
)
@settings_options("store", "json")
def show(settings: Settings, run: str, case: str | None, most: int) -> int:
    """Show a run, or one of its cases in full. RUN may be shortened, or be 'last'."""
    if "/" in run and case is None:
        run, case = run.split("/", 1)
    if case:
        stored, outcome = api.view_case(settings, run, case)
        _show_case(settings, outcome, stored.id)
        return 0
    view = api.view_run(settings, run, most)
    if settings.json:
        print_json(view.summary)
        return 0
    console, place = Console(), store_flag(shown(settings.store))
    state = "going on" if view.live else "unfinished"
    of = f" of {view.run.total}" if view.run.total else ""
    unfinished = "" if view.run.summary else f"   {state}: {view.run.done}{of} cases"
    console.print(f"run [bold]{view.run.id}[/]{unfinished}\n", highlight=False)
    console.print(summary_table(view.summary))
    if view.failures:
        hidden = view.summary.cases - view.summary.passed - len(view.failures)
        console.print()
        console.print(failures_table(view.failures))
        if hidden:
            all_of_them = hidden + len(view.failures)
            hint(console, f"… and {hidden} more: --most {all_of_them} lists them all", gap=False)
        hint(console, f"one in full: misstep show {view.run.id} {quoted(view.failures[0].case.id)}{place}")
    if not view.run.summary and not view.live:
        hint(console, f"go on with:  misstep plan test --resume {view.run.id}{place}")
    return 0


def _show_case(settings: Settings, outcome: Outcome, run: str) -> None:
    if settings.json:
        print_json(outcome)
        return
    console = Console()
    console.print(case_view(outcome, api.difficulty_of(outcome.case)))
    place = store_flag(shown(settings.store))
    hint(console, f"again: misstep replay {quoted(f'{run}/{outcome.case.id}')}{place}")
