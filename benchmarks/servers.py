"""Measures calls per second to an MCP server: while it is fuzzed, and by the official client alone."""

import asyncio
import json
import os
import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.measure import Effort, Mark, Row
from misstep.core.results.fuzzing import ToolReport
from misstep.core.text import encodable
from misstep.core.tool import Invocation, Probe, Reaction
from misstep.fuzzing.examination import STRETCH, Examination, ExaminationOptions
from misstep.tool_host.host import ToolHost

ROOT = Path(__file__).parent.parent
PROGRAM = ROOT / ".venv-servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
COMMAND = ("node", str(PROGRAM))
TOOL = "echo"
CALLS = 5_000
TIMES = 3
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
    if not PROGRAM.exists():
        yield Row(WHAT, None, "×", f"needs {PROGRAM.name} in .venv-servers", MARK)
        return
    ours, alone = list[float](), list[float]()
    for _ in range(effort.times(TIMES)):  # they take turns, so that noise affects both
        rate, calls = _fuzzed(effort.size(CALLS))
        ours.append(rate)
        alone.append(asyncio.run(_called(calls)))
    how = f"{effort.size(CALLS):,} calls of `{TOOL}` by the clock, best of {len(ours)}"
    yield Row("fuzzing a server over stdio", max(ours), "calls/s", f"{how}, generation and judging included")
    yield Row("the official client", max(alone), "calls/s", "the same calls, one after another")
    yield Row(WHAT, max(ours) / max(alone), "×", "same calls, same run", MARK)


def _fuzzed(most: int) -> tuple[float, Sequence[Invocation]]:
    """Calls per second in the fuzzer, and the calls."""
    with RecordingHost(f"mcp:{shlex.join(COMMAND)}") as host:
        host.calls = []
        tools = [tool for tool in host.tools if tool.name == TOOL]
        examination = Examination(host, tools, ToolReport(TOOL, 0), ExaminationOptions())
        began = time.perf_counter()
        while (left := most - examination.calls) > 0 and examination.go_on(min(left, STRETCH), lambda: False):
            pass
        return examination.calls / (time.perf_counter() - began), host.calls[: examination.calls]


async def _called(calls: Sequence[Invocation]) -> float:
    """Calls per second through the official client alone, of those that it can send."""
    from mcp import Client, MCPError
    from mcp.client.stdio import StdioServerParameters, stdio_client

    server = StdioServerParameters(command=COMMAND[0], args=list(COMMAND[1:]))
    sendable = [each for each in (json.loads(call.arguments) for call in calls) if encodable(each) == each]
    with open(os.devnull, "w") as nowhere:
        async with Client(stdio_client(server, errlog=nowhere)) as client:
            began = time.perf_counter()
            for arguments in sendable:
                with suppress(MCPError):  # the arguments are refused
                    await client.call_tool(TOOL, arguments)
            return len(sendable) / (time.perf_counter() - began)
