"""Results of benchmarks: tasks with a computed expected end state, and how agents did on them."""

from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any, Literal

import msgspec

from misstep.core.outcome import JUDGEMENTS, Judgement, Usage
from misstep.core.results.trial import Trial
from misstep.core.stats import wilson

BENCHMARK_VERSION = 1
ID = 8  # hexadecimal digits

Benchmark = Literal["files", "forge"]
Split = Literal["validation", "test", "fresh"]


class Task(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something to ask an agent for. Everything else about it follows from kind, domain and seed."""

    id: str
    benchmark: Benchmark
    kind: str
    request: str
    split: Split
    domain: str = ""
    seed: int = 0
    phrasing: int = 0


class TaskStep(msgspec.Struct, frozen=True):
    tool: str
    arguments: dict[str, Any]


class Solution(msgspec.Struct, frozen=True):
    """Calls that solve a task and the final answer; `damage` is one more call that spoils the result."""

    steps: tuple[TaskStep, ...]
    damage: TaskStep
    said: str = ""


class TaskReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of one task; `name` is its id, `why` lists the differences from the expected end state.

    `usage` is by model role.
    """

    name: str
    kind: str
    request: str
    split: Split
    verdict: Judgement
    domain: str = ""
    why: tuple[str, ...] = ()
    trial: Trial | None = None
    ended: Literal["done", "stopped"] = "done"
    usage: dict[str, Usage] = {}
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    sandbox: str = ""  # human-readable description
    place: int = 0  # position among the tasks of its run
    version: int = BENCHMARK_VERSION

    @property
    def calls(self) -> int:
        return len(self.trial.uses) if self.trial else 0


class PassRate(msgspec.Struct, frozen=True):
    """How many tasks passed. The rate counts passed and failed tasks only, and is None if there are none."""

    passed: int = 0
    failed: int = 0
    inconclusive: int = 0
    errored: int = 0

    @property
    def judged(self) -> int:
        return self.passed + self.failed

    @property
    def unjudged(self) -> int:
        return self.inconclusive + self.errored

    @property
    def rate(self) -> float | None:
        return self.passed / self.judged if self.judged else None

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.passed, self.judged)


class BenchmarkReport(msgspec.Struct, frozen=True):
    """The result of a whole run; `specs` are the tools it was given.

    `kinds` are the benchmark's kinds of tasks in the order in which they are listed. `total` is the number of
    tasks in the run, if known; `tasks` has all of them once the run is done.
    """

    run: str
    benchmark: Benchmark
    specs: tuple[str, ...]
    tasks: tuple[TaskReport, ...]
    usage: dict[str, Usage] = {}
    seconds: float = 0.0
    usd: float | None = None
    kinds: tuple[str, ...] = ()
    total: int = 0

    @property
    def rate(self) -> PassRate:
        return pass_rate(self.tasks)

    @property
    def by_kind(self) -> dict[str, PassRate]:
        """Pass rates in the benchmark's order of kinds; unknown kinds come last."""
        rates = self._by(lambda task: task.kind)
        return {kind: rates[kind] for kind in (*self.kinds, *rates) if kind in rates}

    @property
    def by_split(self) -> dict[str, PassRate]:
        return self._by(lambda task: task.split)

    @property
    def by_domain(self) -> dict[str, PassRate]:
        return self._by(lambda task: task.domain)

    @property
    def calls(self) -> int:
        return sum(task.calls for task in self.tasks)

    @property
    def steps(self) -> float | None:
        """Average number of calls per judged task."""
        judged = [task.calls for task in self.tasks if task.verdict in ("passed", "failed")]
        return sum(judged) / len(judged) if judged else None

    def _by(self, key: Callable[[TaskReport], str]) -> dict[str, PassRate]:
        names = dict.fromkeys(map(key, self.tasks))
        return {name: pass_rate(task for task in self.tasks if key(task) == name) for name in names}


def pass_rate(tasks: Iterable[TaskReport]) -> PassRate:
    verdicts = [task.verdict for task in tasks]
    return PassRate(*[verdicts.count(judgement) for judgement in JUDGEMENTS])


def task_id(benchmark: Benchmark, *parts: str | int, digits: int = ID) -> str:
    """A stable id, the same for the same task in every version. Use more digits for larger suites."""
    text = "\0".join((benchmark, *map(str, parts)))
    return benchmark[:2] + sha256(text.encode("utf-8", "replace")).hexdigest()[:digits]
