"""`misstep mcp serve`: mock tools for any MCP client."""

import asyncio
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import click
from rich.console import Console

from misstep.adapters.mcp.server import require_mcp
from misstep.adapters.mcp.transports import serve_http, serve_stdio
from misstep.cli.help import command
from misstep.cli.options import PORT, settings_options
from misstep.cli.output import print_json, spare_inputs
from misstep.core.agent import Answer
from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.settings import CheckSettings, LimitSettings
from misstep.engine.recorder import Deadline
from misstep.errors import UsageError, did_you_mean
from misstep.planning.difficulty import measure
from misstep.rendering.case import case_view
from misstep.rendering.text import plain_lines
from misstep.runs.cases import load_cases
from misstep.runs.execution import judge, record
from misstep.runs.lookup import view_case
from misstep.store.files import write_lines


@command(
    "serve",
    "misstep mcp serve last/f4c986843eb2",
    "misstep mcp serve f4c986843eb2 --cases cases.jsonl --http",
)
@click.argument("case")
@click.option("--http", is_flag=True, help="Serve over streamable HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on with --http.")
@click.option("--port", type=PORT, default=0, help="Port for --http (0: a free one).")
@settings_options(
    *("cases", "max_steps", "parallel", "out", "store", "json"),
    about={"cases": "File of cases that has CASE."},
)
def serve(settings: CheckSettings, case: str, http: bool, host: str, port: int) -> int:
    """Serve the mock tools of one case and judge the calls.

    Runs until the client disconnects, or with --http until Ctrl-C. CASE is RUN/CASE, as misstep show prints
    it, or the id of a case in the --cases file. The request and the verdict are shown on standard error;
    --out stores the calls as a plan for misstep plan check.
    """
    if settings.json and not http:
        hint = "omit --json, or add --http"
        raise UsageError("--json requires --http: standard output belongs to the client", hint)
    spare_inputs(settings, "plan")
    require_mcp()
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


def find_case(settings: CheckSettings, name: str) -> Case:
    """The case with this id in the file that the settings name, or `RUN/CASE` in the store."""
    if settings.cases:
        cases = {case.id: case for case in load_cases(settings.cases)}
        found = [case for case in cases.values() if case.id.startswith(name)]
        if len(found) == 1:
            return found[0]
        problem = f"'{name}' could be any of several cases" if found else f"there is no case '{name}'"
        raise UsageError(problem, did_you_mean(name, cases), where=settings.cases)
    run, slash, case = name.partition("/")
    if not slash or not case:
        hint = "expected RUN/CASE, or a case's id beside --cases FILE"
        raise UsageError(f"'{name}' does not name a case", hint)
    return view_case(settings, run, case)[1].case


def serve_case(
    settings: LimitSettings, case: Case, http: tuple[str, int] | None, ready: Callable[[str], object]
) -> Outcome:
    """Serve until the client disconnects or the user stops it; calls are judged like an agent's."""
    deadline = Deadline(settings.timeout)
    recorder = record(case, settings, deadline)
    began = time.monotonic()
    with suppress(KeyboardInterrupt):  # the usual end over HTTP
        asyncio.run(serve_stdio(recorder) if http is None else serve_http(recorder, *http, ready))
    answer = Answer(ended="iterations" if recorder.exhausted else "answered")
    return judge(case, settings, recorder.transcript(case.id, answer), time.monotonic() - began)
