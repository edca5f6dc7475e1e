"""`misstep tool fuzz`: inputs that break tools."""

import os
import sys

import click
from rich.console import Console

from misstep.api import fuzzing as api
from misstep.api.interview import REQUESTS
from misstep.api.runs import find_run
from misstep.cli.options import ABOUT_TRYING, FUZZING, TRYING, settings_options
from misstep.cli.output import hint, print_json_text, to_report
from misstep.cli.watching import Started, watched
from misstep.core.finding import FuzzReport
from misstep.core.settings import Settings, parse_gate, store_flag
from misstep.errors import BudgetExceeded, Interrupted, UsageError
from misstep.report.findings import as_json, finding_as_json, finding_detail, fuzz_view
from misstep.report.tool_regression import regression_tests
from misstep.store.files import write_text
from misstep.store.location import shown

USUAL = {"timeout": 10.0, "jobs": 2}
ABOUT = {
    **ABOUT_TRYING,
    "count": f"How many requests greybox and whitebox ask for, for each tool ({REQUESTS}).",
    "jobs": "Tools tested at a time.",
}


@click.command("fuzz")
@click.argument("specs", metavar="SPEC...", nargs=-1)
@click.option("--emit", type=click.Choice(["pytest"]), help="Write the findings as tests as well, to --out.")
@settings_options(
    *FUZZING,
    *TRYING,
    "requests_per_crash",
    "tool_method",
    "skip_sanity",
    "count",
    "timeout",
    "python",
    "seed",
    "jobs",
    "budget_usd",
    "budget_tokens",
    "budget_time",
    "budget_calls",
    "out",
    "fail_on",
    "resume",
    "store",
    "report",
    "report_dir",
    "display",
    "json",
    usual=USUAL,
    about=ABOUT,
)
def fuzz(settings: Settings, specs: tuple[str, ...], emit: str | None) -> int:
    """Find inputs that break tools: crashes, hangs, breaches of their own schemas.

    SPEC is file.py:name or package.module:name (a function, a tool of a framework, a list of them, a
    toolkit), mcp:COMMAND, mcp:URL or mcp.json. Tools run in a sandbox; nothing they do leaves it.

    With --agent, each defect is put to the agent: would a natural request ever lead there? With --method
    greybox or whitebox nothing is fuzzed: a model is asked for requests that make the tools crash.
    """
    _check(settings, specs, emit)
    started = Started()
    try:
        with watched(settings) as listeners:
            if settings.resume:
                report = api.resume_fuzzing(settings, started, *listeners)
            else:
                report = api.fuzz_tools(settings, specs, started, *listeners)
    except (BudgetExceeded, Interrupted, UsageError):
        if started.run:
            _finish(settings, api.view_fuzzing(settings, started.run), emit)
        raise
    _finish(settings, report, emit)
    return _exit_code(report, settings)


def _finish(settings: Settings, report: FuzzReport, emit: str | None) -> None:
    if emit:
        _write_tests(settings, report)
    if not to_report(settings):
        _show(settings, report)


def show_stored(settings: Settings, run: str, _: int) -> None:
    _show(settings, api.view_fuzzing(settings, run))


def show_finding(settings: Settings, run: str, name: str) -> None:
    """One finding in full."""
    stored, finding = api.find_finding(settings, run, name)
    if settings.json:
        print_json_text(finding_as_json(finding))
        return
    console = Console()
    console.print(finding_detail(finding))
    hint(console, f"again: misstep replay {stored.id}/{finding.id}{_place(settings)}")


def _check(settings: Settings, specs: tuple[str, ...], emit: str | None) -> None:
    if settings.resume and specs:
        raise UsageError(f"{specs[0]} can't go with --resume", "the run to be resumed knows its tools")
    if not settings.resume and not specs:
        raise UsageError("no tools were given", "name them as file.py:name, mcp:COMMAND or mcp.json")
    if settings.out and not emit:
        raise UsageError("--out is where tests go", "add --emit pytest, or leave it out")
    folder = os.path.dirname(settings.out) or "."
    if emit and (os.path.isdir(settings.out) or not os.access(folder, os.W_OK)):
        raise UsageError(
            "no file can be written there", "name another with --out", where=settings.out or folder
        )


def _write_tests(settings: Settings, report: FuzzReport) -> None:
    if not report.findings:
        print("there is no finding to make a test of", file=sys.stderr)
        return
    path = settings.out or f"test_misstep_{report.run}.py"
    own = find_run(settings, report.run).settings
    write_text(path, regression_tests(report, own, os.path.dirname(os.path.abspath(path))))
    print(f"regression tests are in {path}: run them with pytest {path}", file=sys.stderr)


def _show(settings: Settings, report: FuzzReport) -> None:
    if settings.json:
        print_json_text(as_json(report))
    else:
        Console().print(fuzz_view(report, f"misstep replay {report.run}", _place(settings)))


def _place(settings: Settings) -> str:
    return store_flag(shown(settings.store))


def _exit_code(report: FuzzReport, settings: Settings) -> int:
    """0 if the gate is passed: so many of all tools have to be without findings."""
    demanded = parse_gate(settings.fail_on)
    sound = sum(not tool.findings for tool in report.tools)
    return int(demanded is not None and sound < demanded * len(report.tools))
