"""`misstep tool lint` and `tool list`: check the documentation of tools, and list tools."""

import time

import click
from rich.console import Console

from misstep.cli.exit_policy import CommandResult
from misstep.cli.help import command
from misstep.cli.options import ABOUT_FAIL_ON, ABOUT_TRYING, settings_options
from misstep.cli.output import hint, print_json, print_json_text, quoted, to_report
from misstep.cli.reports import add_step_summary, check_reports, write_reports
from misstep.core.settings import ToolRunSettings
from misstep.errors import UsageError
from misstep.features.lint.run import lint_tools, list_tools
from misstep.features.lint.view import lint_as_json, lint_view, state_lint, tools_view
from misstep.rendering.layout import Trimmed
from misstep.rendering.text import plain

ABOUT_PYTHON = "Python interpreter to run the tools in."
ABOUT = {
    "python": ABOUT_PYTHON,
    "timeout": ABOUT_TRYING["timeout"],
    "jobs": "Tools tested concurrently.",
    "fail_on": ABOUT_FAIL_ON,
}
LOADING = ("python", "sandbox", "allow_network", "allow_read", "workspace", "descriptions")
USUAL = {"timeout": 5.0, "jobs": 2, "calls_per_tool": 200, "time_per_tool": 15.0}


@command(
    "lint",
    "misstep tool lint shop.py:tools",
    "misstep tool lint 'mcp:uvx my-server' --report sarif",
    shown="sandbox allow_network fail_on report json",
)
@click.argument("specs", metavar="SPEC...", nargs=-1, required=True)
@click.option("--from", "run", default="", metavar="RUN", help="Earlier fuzz run whose results to use.")
@settings_options(
    *("only", "calls_per_tool", "time_per_tool", "timeout", "memory"),
    *LOADING,
    *("seed", "jobs", "fail_on", "store", "report", "report_dir", "step_summary", "json"),
    usual=USUAL,
    about=ABOUT,
)
def lint(settings: ToolRunSettings, specs: tuple[str, ...], run: str) -> int:
    """Find where a tool's documentation and behaviour disagree.

    SPEC is as for `tool fuzz`, or tools.json. Tools are called for a short time in their sandbox, to see what
    they accept; with --from, the results of an earlier run are used instead. Nothing is stored.
    """
    if "ndjson" in settings.report:
        raise UsageError("there are no events to report", "omit ndjson", where="--report")
    check_reports(settings)
    began = time.monotonic()
    report = lint_tools(settings, specs, run)
    quiet = sum(not tool.remarks for tool in report.tools)  # the required share has no remarks
    ending = CommandResult.by_gate(settings, quiet, len(report.tools))
    statement = state_lint(report, specs, not ending.code, time.monotonic() - began)
    write_reports(settings, statement, lambda: lint_as_json(report))
    add_step_summary(settings, statement)
    if settings.json:
        print_json_text(lint_as_json(report))
    elif not to_report(settings):
        console = Console()
        console.print(Trimmed(lint_view(report)))
        them = "it" if len(report.tools) == 1 else "them"
        hint(console, f"Fuzz {them}: misstep tool fuzz {' '.join(map(quoted, specs))}")
    for note in report.notes:
        click.echo(plain(note), err=True)
    return ending.leave()


@command("list", "misstep tool list shop.py:tools", "misstep tool list mcp.json --json")
@click.argument("specs", metavar="SPEC...", nargs=-1, required=True)
@settings_options(*LOADING, "json", about={"python": ABOUT_PYTHON})
def list_command(settings: ToolRunSettings, specs: tuple[str, ...]) -> int:
    """List tools and their parameters.

    SPEC is file.py:name, package.module:name, mcp:COMMAND, mcp:URL, mcp.json or tools.json. Code and servers
    start in the same sandbox as for tool fuzz.
    """
    found = list_tools(specs, settings)
    if settings.json:
        print_json(found)
    else:
        Console().print(Trimmed(tools_view(found.tools)))
    for note in (*(f"skipped: {each}" for each in found.skipped), *found.notes):
        click.echo(plain(note), err=True)
    return 0
