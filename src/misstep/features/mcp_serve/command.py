"""`misstep mcp serve`: mock tools for any MCP client."""

import sys

import click
from rich.console import Console

from misstep.cli.options import PORT, settings_options
from misstep.cli.output import print_json, spare_inputs
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.features.mcp_serve.run import find_case, serve_case
from misstep.planning.difficulty import measure
from misstep.rendering.case import case_view
from misstep.rendering.text import plain_lines
from misstep.store.files import write_lines


@click.command("serve")
@click.argument("case")
@click.option("--http", is_flag=True, help="Serve over streamable HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen with --http.")
@click.option("--port", type=PORT, default=0, help="Which port to take with --http (0: a free one).")
@settings_options("cases", "max_steps", "parallel", "out", "store", "json")
def serve(settings: Settings, case: str, http: bool, host: str, port: int) -> int:
    """Serve the mock tools of one case and judge the calls.

    They are served until the client leaves (or Ctrl-C, with --http). CASE is RUN/CASE, as misstep show prints
    it, or the id of a case in a file that --cases names. The request and the verdict are shown on standard
    error; --out keeps the calls as a plan for misstep plan check.
    """
    if settings.json and not http:
        raise UsageError("standard output belongs to the client", "leave --json out, or serve with --http")
    spare_inputs(settings, "plan")
    found = find_case(settings, case)
    console = Console(stderr=True)
    console.print(plain_lines(found.query), markup=False, highlight=False, soft_wrap=True)
    place = (host, port) if http else None
    outcome = serve_case(settings, found, place, lambda url: print(f"\n{url}", file=sys.stderr, flush=True))
    if settings.out:
        write_lines(settings.out, [outcome.transcript])
    if settings.json:
        print_json(outcome.verdict)
    else:
        console.print(case_view(outcome, measure(outcome.case)))
    return int(outcome.verdict.verdict != "passed")
