"""`misstep tool fix`: find tool descriptions that help agents, and write them."""

import os
import sys
from functools import partial

import click
from rich.console import Console

from misstep.cli.exit_policy import CommandResult
from misstep.cli.help import command
from misstep.cli.listeners import close_run, followed, watched
from misstep.cli.options import ABOUT_FAIL_ON, ABOUT_TRYING, FIXING, KEEPING, settings_options
from misstep.cli.output import check_specs, print_json_text, to_report
from misstep.core.results.fixing import FixRun
from misstep.core.settings import FixSettings, OutputSettings, RunSettings
from misstep.errors import UsageError
from misstep.features.fix.apply import apply_fixes, changed_since, diffs_of, override_of
from misstep.features.fix.run import fix_tools, resume_fixing, view_fixing
from misstep.features.fix.view import fix_as_json, fix_view
from misstep.rendering.text import plain, plain_lines
from misstep.runs.setup.configuration import CALLING, SANDBOX_OPTIONS, TRYING, USUALLY_TRYING
from misstep.store.files import refuse_unwritable, write_text
from misstep.store.location import way_to

ABOUT = {
    **ABOUT_TRYING,
    "fail_on": ABOUT_FAIL_ON,
    "only": "Tool to fix; repeatable (default: all with failures).",
    "from_run": "Run of tool consistency or tool fuzz --agent with the findings to fix.",
    "count": "Maximum requests or tasks per part (default: all).",
    "out": "File for the better descriptions, for use with --descriptions.",
    "jobs": "Requests run concurrently.",
}


@command(
    "fix",
    "misstep tool fix shop.py:tools --from last --agent tools --model openai/gpt-4o",
    "misstep tool fix shop.py:tools --from last --agent tools --model openai/gpt-4o --write",
    shown="from_run agent model only candidates strategy bench out budget_usd resume",
)
@click.argument("specs", metavar="SPEC...", nargs=-1)
@click.option("--write", is_flag=True, help="Write better descriptions into the functions' docstrings.")
@settings_options(
    *("only", "from_run", *FIXING, "kinds", "domains", "count", *TRYING, "timeout"),
    *(*SANDBOX_OPTIONS, *CALLING, "out", "fail_on", *KEEPING),
    usual=USUALLY_TRYING,
    about=ABOUT,
    shared_agent="real",
)
def fix(settings: FixSettings, specs: tuple[str, ...], write: bool) -> int:
    """Find better tool descriptions, and prove that they help.

    SPEC is as for `tool fuzz`. A model writes --candidates descriptions of each tool that failed in the run
    given by --from. They are scored on one half of its requests; the best is compared with the tool's own
    description on the other half. Nothing is written unless it is better there. With --resume, --write and
    --out apply the result of a finished run.
    """
    check_specs(settings, specs)
    if settings.json and settings.out == "-":
        raise UsageError("--out - can't be combined with --json", "the JSON output contains the override")
    refuse_unwritable(settings.out, "name another file with --out")
    run = followed(
        watched(settings),
        partial(resume_fixing, settings, write=write)
        if settings.resume
        else partial(fix_tools, settings, specs, write=write),
        partial(view_fixing, settings),
        partial(_finish, settings),
    )
    ending = CommandResult.by_gate(settings, len(run.better), len(run.tools))
    close_run(settings, run.run, ending)
    _finish(settings, run)
    _put_in_place(settings, run, write)
    return ending.leave()


def _finish(settings: OutputSettings, run: FixRun) -> None:
    if not to_report(settings):
        _show(settings, run)


def show_stored(settings: RunSettings, run: str, most: int) -> None:
    _show(settings, view_fixing(settings, run), most)


def _show(settings: OutputSettings, run: FixRun, most: int = 20) -> None:
    diffs, override = diffs_of(run), override_of(run)
    if settings.json:
        print_json_text(fix_as_json(run, diffs, override))
        return
    console = Console()
    console.print(fix_view(run, diffs, most))
    if override and not settings.out:
        console.print("\nfor --descriptions:\n", style="dim", highlight=False)
        console.print(plain_lines(override), markup=False, highlight=False, soft_wrap=True)


def _put_in_place(settings: RunSettings, run: FixRun, write: bool) -> None:
    """Write improved descriptions, and nothing else."""
    if not (write or settings.out):
        if run.better:
            command = f"misstep tool fix --resume {run.run}{way_to(settings.store)}"
            print(f"\nApply it: {command} --write, or --out FILE", file=sys.stderr)
        return
    if not run.better:
        print("nothing was written: no description is better on the held-out part", file=sys.stderr)
        return
    if path := settings.out:
        for report in run.tools:
            if report.file and os.path.realpath(path) == report.file:
                hint = f"name another file: misstep tool fix --resume {run.run} --out FILE"
                raise UsageError(f"is where the tool '{report.tool}' is written", hint, where=f"--out {path}")
        write_text(path, override_of(run))
        print(f"better descriptions are in {plain(path)}: use them with --descriptions", file=sys.stderr)
        for place in changed_since(run):
            print(f"{plain(place)} has changed since they were tested", file=sys.stderr)
    if write:
        try:
            files = apply_fixes(settings, run)
        except UsageError as error:
            error.hints = (*error.hints, f"show results: misstep show {run.run}{way_to(settings.store)}")
            raise
        for file in files:
            print(f"better descriptions were written to {plain(file)}", file=sys.stderr)
        if not files:
            print("nothing was written: the docstrings are up to date", file=sys.stderr)
