"""Runs on the benchmark of files with few tasks."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from misstep.benchmarks.files.suite import public_tasks
from misstep.core.results.benchmark import BenchmarkReport, Solution, Task
from misstep.core.settings import Settings
from misstep.features.bench.run import run_benchmark
from misstep.features.bench.suites import FileBenchmark
from tests.scripted import Call, Fault, Script, ScriptedServer, calling

KINDS = ("move", "delete", "count")
TASKS = [task for task in public_tasks() if task.split == "validation" and task.kind in KINDS]


def solution_of(prompt: str) -> Solution:
    """How the task is done that somebody asks for in these words."""
    (task,) = [task for task in TASKS if task.request in prompt]
    return FileBenchmark(TASKS).solve(task)


def by_the_book(request: str, tools: list[str]) -> Sequence[Call]:
    return [calling(step.tool, **step.arguments) for step in solution_of(request).steps]


def model(
    plan: Callable[[str, list[str]], Sequence[str | Call]] = by_the_book, faults: Sequence[Fault | None] = ()
) -> Script:
    """One that makes the calls of the plan, and then says what is right."""
    return Script(plan=plan, faults=faults, answer_to=lambda prompt: solution_of(prompt).said or "Done.")


def settings_in(folder: Path, **more: Any) -> Settings:
    """Settings for one task of each kind, without a sandbox."""
    usual = {
        "agent": "sim:right",
        "kinds": KINDS,
        "count": 3,
        "split": "validation",
        "timeout": 20.0,
        "jobs": 1,
    }
    given = {"store": str(folder / "store.db"), "sandbox": "none", "max_steps": 40}
    return Settings(**{**usual, **given, **more})


def scripted(server: ScriptedServer) -> dict[str, Any]:
    """The settings that let the model of a server do the work."""
    return {"agent": "tools", "model": "x", "model_base_url": server.base_url, "retries": 0}


def run(
    folder: Path, *tools: str, script: Script | None = None, listener: Any = lambda _: None, **more: Any
) -> BenchmarkReport:
    """A run of a simulated agent, or of a model with a script."""
    if script is None:
        return run_benchmark("files", settings_in(folder, **more), tools, listener)
    with ScriptedServer(script) as server:
        settings = settings_in(folder, **{**scripted(server), **more})
        return run_benchmark("files", settings, tools, listener)


def verdicts(report: BenchmarkReport) -> list[str]:
    return [task.verdict for task in report.tasks]


def told_of(report: BenchmarkReport) -> list[tuple[str, str, tuple[str, ...], int]]:
    """What came of each task, without what differs from run to run."""
    return [(task.name, task.verdict, task.why, task.calls) for task in report.tasks]


def first_tasks(count: int = 3) -> Sequence[Task]:
    return TASKS[:count]
