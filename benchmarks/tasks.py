"""What it takes to put tasks of a benchmark to an agent."""

import tempfile
import time
from collections.abc import Iterator

from benchmarks.measure import Effort, Mark, Row, best_seconds
from misstep.api.benchmarking.running import run_benchmark
from misstep.core.benchmark import BenchmarkReport
from misstep.core.settings import Settings

TASKS = 100
TIMES = 3
JOBS = 2


def task_rows(effort: Effort) -> Iterator[Row]:
    count = effort.size(TASKS)
    settings = Settings(agent="sim:right", split="test", count=count, jobs=JOBS, timeout=10.0)
    reports, cpu = list[BenchmarkReport](), list[float]()

    with tempfile.TemporaryDirectory() as folder:

        def clock(batch: int) -> float:
            began, used = time.monotonic(), time.process_time()
            reports.append(run_benchmark("files", settings.overlay({"store": f"{folder}/{batch}.db"}), ()))
            cpu.append(time.process_time() - used)
            return time.monotonic() - began

        (seconds,) = best_seconds(effort.times(TIMES), clock)
    how = f"{count} tasks on files from laying the folder to the stored verdict, in a sandbox"
    yield Row(
        "benchmark of files, sim:right",
        min(cpu) / count * 1000,
        "ms/task",
        f"our CPU for {how}",
        Mark("≤", 40),
    )
    yield Row(f"… with --jobs {JOBS}", count / seconds, "tasks/s", f"wall time for {how}, start included")
    wrong = sum(task.verdict != "passed" for report in reports for task in report.tasks)
    yield Row("tasks that sim:right does not pass", wrong, "", "in the same runs", Mark("≤", 0))
