"""Measures calls per second to an MCP server: while it is fuzzed, and by the official client alone."""

import asyncio
import json
import os
import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.measure import Effort, Mark, Row
from misstep.core.results.fuzzing import ToolReport
from misstep.core.text import encodable
from misstep.core.tool import Invocation, Probe, Reaction
from misstep.fuzzing.examination import Examination, ExaminationOptions
from misstep.fuzzing.workbench import STRETCH
from misstep.tool_host.host import ToolHost

ROOT = Path(__file__).parent.parent
PROGRAMS = ROOT / ".venv-servers/node_modules/@modelcontextprotocol"
# Servers and tools. The first does hardly anything in a call, so that all of the time is the fuzzer's.
TOOLS = (("server-everything", "echo"), ("server-everything", "get-sum"), ("server-memory", "search_nodes"))
CALLS = 3_000
TIMES = 5
WHAT = "fuzzing a server over stdio ÷ a loop of the official client"
MARK = Mark("≥", 0.8)


class RecordingHost(ToolHost):
    """Keeps the calls that are made."""

    calls: list[Invocation]

    def run(self, probes: Iterable[Probe], patience: float = 1.0) -> Iterator[Reaction]:
        def recorded() -> Iterator[Probe]:
            for probe in probes:
                self.calls.append(probe.invocation)
                yield probe

        return super().run(recorded(), patience)


def server_rows(effort: Effort) -> Iterator[Row]:
    for server, tool in TOOLS:
        program = PROGRAMS / server / "dist/index.js"
        what = f"{WHAT}, `{tool}`"
        if not program.exists():
            yield Row(what, None, "×", f"needs {server} in .venv-servers", MARK)
            continue
        yield from _compared(("node", str(program)), tool, what, effort)


def _compared(command: Sequence[str], tool: str, what: str, effort: Effort) -> Iterator[Row]:
    """Both rates, and the median of their ratios."""
    pairs = list[tuple[float, float]]()
    for _ in range(effort.times(TIMES)):  # they take turns, so that noise affects both
        rate, calls = _fuzzed(command, tool, effort.size(CALLS))
        pairs.append((rate, asyncio.run(_called(command, tool, calls))))
    ours, alone = (median(each) for each in zip(*pairs, strict=True))
    how = f"{effort.size(CALLS):,} calls of `{tool}` by the clock, median of {len(pairs)}"
    yield Row(
        f"fuzzing a server over stdio, `{tool}`", ours, "calls/s", f"{how}, generation and judging included"
    )
    yield Row(f"the official client, `{tool}`", alone, "calls/s", "the same calls, one after another")
    yield Row(what, median(one / other for one, other in pairs), "×", "same calls, same run, median", MARK)


def _fuzzed(command: Sequence[str], tool: str, most: int) -> tuple[float, Sequence[Invocation]]:
    """Calls per second in the fuzzer, and the calls."""
    with RecordingHost(f"mcp:{shlex.join(command)}") as host:
        host.calls = []
        tools = [each for each in host.tools if each.name == tool]
        examination = Examination(host, tools, ToolReport(tool, 0), ExaminationOptions())
        began = time.perf_counter()
        while (left := most - examination.calls) > 0 and examination.go_on(min(left, STRETCH), lambda: False):
            pass
        return examination.calls / (time.perf_counter() - began), host.calls[: examination.calls]


async def _called(command: Sequence[str], tool: str, calls: Sequence[Invocation]) -> float:
    """Calls per second through the official client alone, of those that it can send."""
    from mcp import Client, MCPError
    from mcp.client.stdio import StdioServerParameters, stdio_client

    sendable = [each for each in (json.loads(call.arguments) for call in calls) if encodable(each) == each]
    with TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        kept = {"MEMORY_FILE_PATH": str(Path(folder, "memory.jsonl"))}  # in the sandbox, it is in a copy
        server = StdioServerParameters(command=command[0], args=list(command[1:]), env={**os.environ, **kept})
        async with Client(stdio_client(server, errlog=nowhere)) as client:
            began = time.perf_counter()
            for arguments in sendable:
                with suppress(MCPError):  # the arguments are refused
                    await client.call_tool(tool, arguments)
            return len(sendable) / (time.perf_counter() - began)
