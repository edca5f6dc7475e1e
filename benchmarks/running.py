"""Measures the cost of a run without the agent: the start, the loop and the store."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.measure import Effort, Mark, Row, best_cpu
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.case import Case
from misstep.core.settings import Settings, Span
from misstep.features.plan_test.run import run_agent
from misstep.runs.cases import synthesise

HEAVY = ("z3", "sqlite3", "rich", "click")


class Scripted:
    """A scripted agent: it has a list of tools to call for each request."""

    name = "scripted"

    def __init__(self, scripts: Mapping[str, Sequence[str]]) -> None:
        self._scripts = scripts

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        for tool in self._scripts[assignment.request]:
            toolbox.call(tool, {})
        return Answer("All the tasks have been carried out.")


def import_rows(effort: Effort) -> Iterator[Row]:
    times = effort.repeats
    bare, ours, api = (
        min([_wall_seconds(code) for _ in range(times)])
        for code in ("pass", "import misstep", "import misstep.features.plan_test.run")
    )
    loaded = _run(f"import sys, misstep; print(sum(name in sys.modules for name in {HEAVY}))")
    how = f"wall time of a fresh interpreter beyond a bare one, best of {times} each"
    yield Row("import misstep", ours - bare, "s", how, Mark("<", 0.15))
    yield Row("import misstep.features.plan_test.run", api - bare, "s", "the same")
    yield Row("heavy modules that import misstep loads", int(loaded), "", ", ".join(HEAVY), Mark("≤", 0))


def loop_rows(effort: Effort) -> Iterator[Row]:
    count = effort.size(1000)
    settings = Settings(agent="sim:perfect", actions=Span(5, 5), count=count)
    scripted = Scripted({case.query: correct_calls(case) for case in synthesise(settings)})
    with tempfile.TemporaryDirectory() as folder:
        ours, simulated = best_cpu(
            effort.repeats,
            lambda batch: run_agent(settings.overlay({"store": f"{folder}/a{batch}.db"}), agent=scripted),
            lambda batch: run_agent(settings.overlay({"store": f"{folder}/b{batch}.db"})),
        )
        stored = sum(file.stat().st_size for file in Path(folder).glob("a0.db*"))
    how = f"CPU of a run of {count} cases with 5 calls each, from synthesis to the stored outcome"
    yield Row("run loop, scripted agent", ours / count * 1000, "ms/case", how, Mark("≤", 2))
    yield Row("store", stored / count / 1000, "KB/case", "size of the file after that run", Mark("≤", 10))
    yield Row(
        "run loop, sim:perfect", simulated / count * 1000, "ms/case", "the agent reads each request, too"
    )


def correct_calls(case: Case) -> list[str]:
    tools = {action.id: action.tool for action in case.actions}
    return [tools[action] for action in case.witness]


def _run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def _wall_seconds(code: str) -> float:
    began = time.perf_counter()
    _run(code)
    return time.perf_counter() - began
