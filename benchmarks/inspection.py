"""Measures the cost of a case in Inspect AI, in a minimal harness, and in misstep."""

import asyncio
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.measure import Effort, Mark, Row, best_seconds, cpu_seconds
from benchmarks.running import Scripted, correct_calls
from misstep.core.case import Case
from misstep.core.settings import Settings, Span
from misstep.features.plan_test.run import run_agent
from misstep.planning.world.mock import MockWorld
from misstep.runs.cases import synthesise

PYTHON = Path(".venv-inspect/bin/python")
SUBJECT = Path(__file__).parent / "inspect_subject.py"
VERSION = "0.3.285"
TURNS = 5
ANSWER = "All the tasks have been carried out."


class Inspect:
    """Inspect AI in a process that is kept between evaluations."""

    def __init__(self, process: "subprocess.Popen[str]", task: object) -> None:
        self._process = process
        self._say(task)

    def clock(self, count: int, realtime: bool) -> Callable[[int], float]:
        """Evaluates `count` samples and returns the CPU seconds."""

        def evaluate(_: int) -> float:
            self._say({"count": count, "realtime": realtime})
            assert self._process.stdout
            return float(self._process.stdout.readline())

        return evaluate

    def _say(self, value: object) -> None:
        assert self._process.stdin
        print(json.dumps(value), file=self._process.stdin, flush=True)


def inspection_rows(effort: Effort) -> Iterator[Row]:
    many, few, turns = effort.size(1000), effort.size(60), effort.times(TURNS)
    settings = Settings(agent="scripted", actions=Span(5, 5), count=many)
    cases = list(synthesise(settings))
    agent = Scripted({case.query: correct_calls(case) for case in cases})
    with tempfile.TemporaryDirectory() as folder, inspect_at_work(cases[:few], folder) as inspect:

        def run(batch: int) -> None:
            run_agent(settings.overlay({"store": f"{folder}/{batch}.db"}), agent=agent)

        clocks: list[Callable[[int], float]] = [
            partial(cpu_seconds, run),
            partial(cpu_seconds, lambda _: asyncio.run(run_bare(cases, folder))),
        ]
        if inspect:
            clocks += [inspect.clock(few, realtime=True), inspect.clock(few, realtime=False)]
        ours, floor, *theirs = best_seconds(turns, *clocks)
    yield from _floor_rows(ours / many, floor / many, turns)
    yield from (
        _inspect_rows(ours / many, *[seconds / few for seconds in theirs]) if theirs else _missing_rows()
    )


def _floor_rows(ours: float, floor: float, turns: int) -> Iterator[Row]:
    how = f"the same five calls and a JSON line each, nothing judged; best of {turns} batches"
    yield Row("bare asyncio and JSON lines", floor * 1000, "ms/case", how)
    yield Row("misstep's run loop ÷ that", ours / floor, "×", "same run, batches take turns")


def _inspect_rows(ours: float, theirs: float, lean: float) -> Iterator[Row]:
    how = (
        "CPU of a sample in a warm process: the same requests, five tools with the same results, "
        "mockllm asking for one a turn and telling its usage, includes() as scorer, 8 samples at a time, "
        "its log in the default format"
    )
    yield Row(f"Inspect AI {VERSION}", theirs * 1000, "ms/case", how)
    yield Row("Inspect AI ÷ misstep", theirs / ours, "×", "CPU, same run, turns taken", Mark("≥", 30))
    yield Row("… without its live view", lean * 1000, "ms/case", "the same with log_realtime=False")
    yield Row("that ÷ misstep", lean / ours, "×", "CPU, same run, turns taken")


def _missing_rows() -> Iterator[Row]:
    how = f"Inspect AI {VERSION} could not be installed into {PYTHON.parent.parent}"
    yield Row("Inspect AI ÷ misstep", None, "×", how, Mark("≥", 30))


@contextmanager
def inspect_at_work(cases: Sequence[Case], folder: str) -> Iterator[Inspect | None]:
    """Inspect AI, warmed up; None if its environment is missing."""
    if not PYTHON.exists():
        yield None
        return
    world = MockWorld(cases[0])
    tools = [
        {"name": tool.name, "description": tool.description, "result": world.answer(tool.name, {})}
        for tool in world.tools
    ]
    task = {"requests": [case.query for case in cases], "tools": tools, "folder": f"{folder}/logs"}
    pipe = subprocess.PIPE
    home = {**os.environ, "HOME": folder, "XDG_DATA_HOME": folder}  # where it writes traces
    with subprocess.Popen([PYTHON, SUBJECT], stdin=pipe, stdout=pipe, text=True, env=home) as process:
        inspect = Inspect(process, task)
        inspect.clock(4, realtime=True)(0)
        yield inspect
        assert process.stdin
        process.stdin.close()


async def run_bare(cases: Sequence[Case], folder: str) -> None:
    """A minimal harness: eight cases at a time, tools called by name, a line for each case."""
    waiting = iter(cases)
    with open(f"{folder}/bare.jsonl", "a", encoding="utf-8") as lines:

        async def work() -> None:
            for case in waiting:
                line = await _bare_line(case)
                lines.write(line + "\n")
                lines.flush()

        await asyncio.gather(*[work() for _ in range(8)])


async def _bare_line(case: Case) -> str:
    results = {action.tool: f"{action.name}: done" for action in case.actions}
    began, calls = time.monotonic(), list[dict[str, object]]()
    for turn, tool in enumerate(correct_calls(case), 1):
        await asyncio.sleep(0)
        at = round(time.monotonic() - began, 6)
        calls.append({"tool": tool, "arguments": {}, "result": results[tool], "turn": turn, "at": at})
    return json.dumps({"case": case.id, "request": case.query, "calls": calls, "answer": ANSWER})
