"""`misstep runs`, `show` and `replay`: what has been run."""

import click
import msgspec
from rich.console import Console

from misstep.api import runs as api
from misstep.cli.options import settings_options
from misstep.cli.output import hint, ours_alone, print_json, quoted
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings
from misstep.core.summary import Summary
from misstep.report.case import case_view
from misstep.report.terminal import failures_table, runs_table, summary_table


class RunLine(msgspec.Struct, frozen=True):
    run: str
    started: float
    total: int
    done: int
    agent: str
    model: str | None
    summary: Summary | None


class RunList(msgspec.Struct, frozen=True):
    """What `misstep runs --json` prints."""

    runs: list[RunLine]


@click.command("runs")
@settings_options("store", "json")
def runs(settings: Settings) -> int:
    """List the runs in the store, the newest first."""
    found = api.list_runs(settings)
    if settings.json:
        lines = [
            RunLine(
                run.id,
                run.started,
                run.total,
                run.done,
                run.settings.agent,
                run.settings.model or None,
                run.summary,
            )
            for run in found
        ]
        print_json(RunList(lines))
    elif found:
        rows = ((run.id, run.started, run.total, run.done, run.settings, run.summary) for run in found)
        Console().print(runs_table(rows))
    else:
        Console().print("no runs yet", style="dim")
    return 0


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
    console = Console()
    unfinished = "" if view.run.summary else f"   unfinished: {view.run.done} of {view.run.total} cases"
    console.print(f"run [bold]{view.run.id}[/]{unfinished}\n", highlight=False)
    console.print(summary_table(view.summary))
    if view.failures:
        hidden = view.summary.cases - view.summary.passed - len(view.failures)
        console.print()
        console.print(failures_table(view.failures))
        if hidden:
            all_of_them = hidden + len(view.failures)
            hint(console, f"… and {hidden} more: --most {all_of_them} lists them all", gap=False)
        hint(console, f"one in full: misstep show {view.run.id} {quoted(view.failures[0].case.id)}")
    if not view.run.summary:
        hint(console, f"go on with:  misstep plan test --resume {view.run.id}")
    return 0


@click.command("replay")
@click.argument("finding")
@settings_options("store", "json")
def replay(settings: Settings, finding: str) -> int:
    """Run a case of a run once more. FINDING is RUN/CASE."""
    with ours_alone():
        before, after = api.replay(settings, finding)
    if settings.json:
        print_json(after)
    else:
        console = Console()
        console.print(case_view(after))
        same = _ending(before) == _ending(after)
        hint(console, f"{'as before' if same else 'before, it was'}: {_ending(before)}")
    return int(after.verdict.verdict != "passed")


def _show_case(settings: Settings, outcome: Outcome, run: str) -> None:
    if settings.json:
        print_json(outcome)
        return
    console = Console()
    console.print(case_view(outcome))
    hint(console, f"again: misstep replay {quoted(f'{run}/{outcome.case.id}')}")


def _ending(outcome: Outcome) -> str:
    verdict = outcome.verdict
    step = f" at step {verdict.step}" if verdict.step else ""
    return verdict.verdict + (f", {verdict.error}" if verdict.error else "") + step
