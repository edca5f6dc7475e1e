"""Benchmark values: rates with intervals, in all and by part."""

import msgspec

from misstep.core.outcome import Judgement
from misstep.core.results.benchmark import BenchmarkReport, PassRate, Task, TaskReport, task_id
from misstep.core.results.trial import Judged, Trial, Use
from misstep.core.stats import wilson


def _report(kind: str, verdict: Judgement, calls: int = 0) -> TaskReport:
    uses = tuple(Use("move", "{}", "", Judged("fine")) for _ in range(calls))
    return TaskReport("x", kind, "Move it.", "test", verdict, "art", trial=Trial("Move it.", uses))


RUN = BenchmarkReport(
    "run",
    "files",
    ("a:b",),
    (_report("move", "passed", 3), _report("move", "failed", 1), _report("find", "errored", 7)),
)


def test_only_passed_and_failed_tasks_enter_the_rate() -> None:
    assert RUN.rate == PassRate(1, 1, 0, 1)
    assert RUN.rate.rate == 0.5
    assert RUN.rate.interval == wilson(1, 2)
    assert PassRate(errored=3).rate is None


def test_rates_are_told_by_kind_and_split() -> None:
    assert RUN.by_kind == {"move": PassRate(1, 1), "find": PassRate(errored=1)}
    assert RUN.by_split == {"test": PassRate(1, 1, 0, 1)}
    assert RUN.by_domain == {"art": PassRate(1, 1, 0, 1)}


def test_steps_are_calls_to_a_judged_task() -> None:
    assert RUN.calls == 11
    assert RUN.steps == 2


def test_ids_are_stable() -> None:
    assert task_id("files", "move", 7) == "fi484bebdb"
    assert task_id("files", "move", 7) != task_id("files", "move7")


def test_tasks_survive_being_stored() -> None:
    task = Task("fi1", "files", "move", "Move ü.", "validation", "art", 2**53 - 1, 2)
    assert msgspec.json.decode(msgspec.json.encode(task), type=Task) == task
    stored = msgspec.json.encode(RUN.tasks[0])
    assert msgspec.json.decode(stored, type=TaskReport) == RUN.tasks[0]
