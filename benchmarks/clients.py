"""Measures the cost of a request through a vendor's client library, a lower bound for any harness."""

import asyncio
import tempfile
from collections.abc import Iterator
from typing import Any

from openai import AsyncOpenAI

from benchmarks.distance import TURNS, distant_server
from benchmarks.measure import Effort, Row, best_cpu
from misstep.core.settings import Settings, Span
from misstep.features.plan_test.run import run_agent

JOBS = 50
NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
LATENCY = 0.05
TIMES = 2
HINT = "You carry out tasks with the tools that you are given."
REQUEST = "Carry out all the tasks, one after another, each with its tool. " * 10
TOOLS = [
    {"type": "function", "function": {"name": f"tool_{n}", "description": "Does it.", "parameters": NOTHING}}
    for n in range(TURNS - 1)
]


def client_rows(effort: Effort) -> Iterator[Row]:
    count, times = effort.size(100), effort.times(TIMES)
    requests = count * TURNS
    with tempfile.TemporaryDirectory() as folder, distant_server(LATENCY) as port:
        url = f"http://127.0.0.1:{port}/v1"
        settings = Settings(
            agent="tools",
            model="openai/distant",
            model_base_url=url,
            actions=Span(5, 5),
            count=count,
            jobs=JOBS,
            requests=JOBS,
        )
        ours, alone = best_cpu(
            times,
            lambda batch: _run(settings.overlay({"store": f"{folder}/{batch}.db"})),
            lambda _: asyncio.run(_ask_alone(url, count)),
        )
    how = f"CPU of {requests:,} chat requests, {JOBS} at a time, best of {times}"
    yield Row("OpenAI's SDK alone", alone / requests * 1000, "ms/request", how)
    yield Row(
        "--agent tools through it", ours / requests * 1000, "ms/request", "the same in whole runs of misstep"
    )


def _run(settings: Settings) -> None:
    summary = run_agent(settings)
    if summary.calls != summary.cases * (TURNS - 1):
        raise RuntimeError(f"{summary.calls} calls in {summary.cases} cases")


async def _ask_alone(url: str, count: int) -> None:
    """The same conversations with the client library alone."""
    waiting = iter(range(count))
    async with AsyncOpenAI(base_url=url, api_key="none") as client:

        async def work() -> None:
            for _ in waiting:
                await _converse(client)

        await asyncio.gather(*[work() for _ in range(JOBS)])


async def _converse(client: Any) -> None:
    said = list[dict[str, Any]]([{"role": "system", "content": HINT}, {"role": "user", "content": REQUEST}])
    while True:
        reply = await client.chat.completions.create(model="distant", messages=said, tools=TOOLS)
        message = reply.choices[0].message
        if not message.tool_calls:
            return
        said.append(message.to_dict())
        said += [{"role": "tool", "tool_call_id": call.id, "content": "Done."} for call in message.tool_calls]
