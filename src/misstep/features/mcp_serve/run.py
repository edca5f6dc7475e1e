"""Serves the tools of one case to any MCP client and judges the calls."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from misstep.adapters.mcp.transports import serve_http, serve_stdio
from misstep.core.agent import Answer, Toolbox
from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings
from misstep.engine.recorder import Deadline
from misstep.errors import UsageError, did_you_mean
from misstep.runs.cases import load_cases
from misstep.runs.execution import judge, record
from misstep.runs.lookup import view_case


def find_case(settings: Settings, name: str) -> Case:
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
        raise UsageError(f"'{name}' names no case", "expected RUN/CASE, or a case's id beside --cases FILE")
    return view_case(settings, run, case)[1].case


def serve_case(
    settings: Settings, case: Case, http: tuple[str, int] | None, ready: Callable[[str], object]
) -> Outcome:
    """Serve until the client disconnects or the user stops it; calls are judged like an agent's."""
    deadline = Deadline(settings.timeout)
    recorder = record(case, settings, deadline)
    began = time.monotonic()
    with suppress(KeyboardInterrupt):  # the usual end over HTTP
        asyncio.run(_serve(recorder, http, ready))
    answer = Answer(ended="iterations" if recorder.exhausted else "answered")
    return judge(case, settings, recorder.transcript(case.id, answer), time.monotonic() - began)


async def _serve(toolbox: Toolbox, http: tuple[str, int] | None, ready: Callable[[str], object]) -> None:
    if http is None:
        await serve_stdio(toolbox)
    else:
        await serve_http(toolbox, *http, ready)
