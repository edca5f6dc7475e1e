"""Measures how close a run with many cases in flight gets to the maximum rate of a slow server."""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from benchmarks.distant_server import allow_connections
from benchmarks.measure import Effort, Mark, Row
from benchmarks.running import correct_calls
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.event import CaseFinished, Event
from misstep.core.settings import Settings, Span
from misstep.features.plan_test.run import run_agent
from misstep.runs.cases import synthesise

LATENCY = 0.2
JOBS = 1000
TURNS = 6  # five calls and the answer
WAVES = 10  # cases that a job runs, one after another
RUNS = 3


class Wire(asyncio.Protocol):
    """A connection with at most one pending request."""

    def __init__(self) -> None:
        self._reply: asyncio.Future[bytes] | None = None
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def ask(self, request: bytes) -> "asyncio.Future[bytes]":
        self._reply = self._loop.create_future()
        self.transport.write(request)
        return self._reply

    def data_received(self, data: bytes) -> None:
        if self._reply and not self._reply.done():  # each reply of this server fits in one chunk
            self._reply.set_result(data)


class Wires:
    """A pool of connections to one server."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle = list[Wire]()
        body = b'{"model": "distant", "messages": []}'
        head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
        self._request = head + body

    async def ask(self) -> bytes:
        wire = self._idle.pop() if self._idle else await self._open()
        reply = await wire.ask(self._request)
        self._idle.append(wire)
        return reply

    def close(self) -> None:
        while self._idle:
            self._idle.pop().transport.close()

    async def _open(self) -> Wire:
        _, wire = await asyncio.get_running_loop().create_connection(Wire, "127.0.0.1", self._port)
        return wire


class Distant:
    """A scripted agent that asks a server before each step."""

    name = "distant"

    def __init__(self, scripts: Mapping[str, Sequence[str]], wires: Wires) -> None:
        self._scripts = scripts
        self._wires = wires

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        for tool in self._scripts[assignment.request]:
            await self._wires.ask()
            toolbox.call(tool, {})
        await self._wires.ask()
        return Answer("All the tasks have been carried out.")

    async def close(self) -> None:
        self._wires.close()


class Arrivals:
    """A listener that records when outcomes were reported."""

    def __init__(self) -> None:
        self.times = list[float]()

    def __call__(self, event: Event) -> None:
        if isinstance(event, CaseFinished):
            self.times.append(time.perf_counter())

    def rate(self, skipped: int) -> float:
        """Cases per second, without the first `skipped` ones."""
        return (len(self.times) - skipped) / (self.times[-1] - self.times[skipped - 1])


def distance_rows(effort: Effort) -> Iterator[Row]:
    allow_connections()
    waves, times = effort.size(WAVES), effort.times(RUNS)
    ideal = JOBS / (TURNS * LATENCY)
    with distant_server(LATENCY) as port:
        bare = max(_bare_rate(port, waves) for _ in range(times))
        runs = [_run(port, waves * JOBS) for _ in range(times)]
    steady, whole = max(rate for rate, _ in runs), max(waves * JOBS / wall for _, wall in runs)
    asked = f"{JOBS:,} at a time, {TURNS} requests each to a loopback server that takes {LATENCY:g} s"
    how = f"{waves * JOBS:,} cases, {asked}; wall time from the {JOBS:,}th outcome to the last"
    yield Row("1,000 cases in flight", steady, "/s", f"{how}; ideal: {ideal:.0f} /s")
    yield Row("… share of the ideal", steady / ideal * 100, "%", f"best of {times} runs", Mark("≥", 90))
    yield Row("… of the whole run", whole / ideal * 100, "%", "start and end included")
    yield Row(
        "… of bare asyncio", bare / ideal * 100, "%", "the same requests without misstep, start included"
    )


@contextmanager
def distant_server(seconds: float) -> Iterator[int]:
    """The port of a server in a separate process."""
    command = [sys.executable, "-m", "benchmarks.distant_server", str(seconds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin
        assert server.stdout
        yield int(server.stdout.readline())
        server.stdin.close()


def _run(port: int, count: int) -> tuple[float, float]:
    """The rate without the start, and the wall-clock seconds of the whole run."""
    settings = Settings(agent="distant", actions=Span(5, 5), count=count, jobs=JOBS)
    scripts = {case.query: correct_calls(case) for case in synthesise(settings)}
    arrivals = Arrivals()
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        summary = run_agent(
            settings.overlay({"store": f"{folder}/store.db"}), arrivals, agent=Distant(scripts, Wires(port))
        )
        seconds = time.perf_counter() - began
    if summary.passed != count:
        raise RuntimeError(f"only {summary.passed} of {count} cases passed")
    return arrivals.rate(JOBS), seconds


def _bare_rate(port: int, waves: int) -> float:
    async def work(wires: Wires) -> None:
        for _ in range(waves * TURNS):
            await wires.ask()

    async def go() -> float:
        wires = Wires(port)
        began = time.perf_counter()
        await asyncio.gather(*[work(wires) for _ in range(JOBS)])
        wires.close()
        return waves * JOBS / (time.perf_counter() - began)

    return asyncio.run(go())
