"""Measures the cost of running benchmark tasks."""

import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.measure import Effort, Mark, Row, best_seconds, cpu_seconds
from misstep.benchmarks.files.suite import FreshTasks, judge_files, public_tasks, world_of
from misstep.benchmarks.files.tools import TOOLS
from misstep.benchmarks.tree import lay, survey
from misstep.core.results.benchmark import BenchmarkReport, Task
from misstep.core.settings import Settings
from misstep.features.bench.environments import TaskFolder
from misstep.features.bench.run import run_benchmark

TASKS = 100
FRESH = 300
TIMES = 3
JOBS = 2


def task_rows(effort: Effort) -> Iterator[Row]:
    count = effort.size(TASKS)
    settings = Settings(agent="sim:right", split="test", count=count, jobs=JOBS, timeout=10.0)
    tasks = [task for task in public_tasks() if task.split == "test"][:count]
    reports, wall = list[BenchmarkReport](), list[float]()

    with tempfile.TemporaryDirectory() as folder:

        def run(batch: int) -> None:
            began = time.monotonic()
            reports.append(run_benchmark("files", settings.overlay({"store": f"{folder}/{batch}.db"}), ()))
            wall.append(time.monotonic() - began)

        cpu, bare = best_seconds(
            effort.times(TIMES),
            lambda batch: cpu_seconds(run, batch),
            lambda batch: cpu_seconds(lambda _: _do_all(tasks, Path(folder, "bare")), batch),
        )
    how = f"{count} tasks on files from laying the folder to the stored verdict, in a sandbox"
    yield Row("benchmark of files, sim:right", cpu / count * 1000, "ms/task", f"our CPU for {how}")
    yield Row(
        "… against the bare work",
        cpu / bare,
        "×",
        "CPU of laying, calling our tools, reading back and judging, in one process",
        Mark("≤", 2.5),
    )
    yield Row(f"… with --jobs {JOBS}", count / min(wall), "tasks/s", f"wall time for {how}, start included")
    yield _making(effort)
    wrong = sum(task.verdict != "passed" for report in reports for task in report.tasks)
    yield Row("tasks that sim:right does not pass", wrong, "", "in the same runs", Mark("≤", 0))


def _do_all(tasks: Sequence[Task], folder: Path) -> None:
    """The work that any harness has to do."""
    calls = {tool.__name__: tool for tool in TOOLS}
    for task in tasks:
        TaskFolder(folder).clear()
        world = world_of(task)
        lay(world.initial, folder)
        with contextlib.chdir(folder):
            for step in world.solution:
                calls[step.tool](**step.arguments)
        judge_files(task, survey(folder), world.answer.text if world.answer else "")


def _making(effort: Effort) -> Row:
    """The time to generate a task; each batch has new ones."""
    count = effort.size(FRESH)
    (seconds,) = best_seconds(
        effort.times(TIMES), lambda batch: cpu_seconds(lambda seed: list(FreshTasks(seed, count)), batch)
    )
    what = f"making one of {count} fresh tasks on files, with its folder, right end and words"
    return Row("a fresh task on files", seconds / count * 1000, "ms/task", what, Mark("≤", 3))
