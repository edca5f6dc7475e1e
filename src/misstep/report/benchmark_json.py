"""What an agent made of the tasks of a benchmark, as JSON."""

from typing import Any

from misstep.core.benchmark import BenchmarkReport, PassRate, TaskReport
from misstep.report.parts_json import tokens_as_json
from misstep.report.trial import trial_as_json


def benchmark_as_json(report: BenchmarkReport) -> dict[str, Any]:
    """What `--json` prints."""
    return {
        "run": report.run,
        "benchmark": report.benchmark,
        "tools": list(report.specs),
        "tasks": len(report.tasks),
        "total": max(report.total, len(report.tasks)),
        **_rate_as_json(report.rate),
        "by_kind": {name: _rate_as_json(rate) for name, rate in report.by_kind.items()},
        "by_split": {name: _rate_as_json(rate) for name, rate in report.by_split.items()},
        "calls": report.calls,
        "steps": report.steps,
        "tokens": tokens_as_json(report.usage),
        "usd": report.usd,
        "seconds": round(report.seconds, 3),
        "results": [_line_as_json(task) for task in report.tasks],
    }


def task_as_json(task: TaskReport) -> dict[str, Any]:
    """A task in full."""
    return {
        **_line_as_json(task),
        "request": task.request,
        "trial": task.trial and trial_as_json(task.trial),
        "seconds": task.seconds,
        "sandbox": task.sandbox,
    }


def _line_as_json(task: TaskReport) -> dict[str, Any]:
    return {
        "id": task.name,
        "kind": task.kind,
        "domain": task.domain,
        "split": task.split,
        "verdict": task.verdict,
        "why": list(task.why),
        "calls": task.calls,
    }


def _rate_as_json(rate: PassRate) -> dict[str, Any]:
    return {
        "passed": rate.passed,
        "failed": rate.failed,
        "inconclusive": rate.inconclusive,
        "errored": rate.errored,
        "success": rate.rate,
        "interval": list(rate.interval),
    }
