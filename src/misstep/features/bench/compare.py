"""Compares two stored runs on a benchmark, task by task."""

from collections.abc import Sequence
from typing import TypeAlias

from misstep.core.results.benchmark import TaskReport
from misstep.core.results.comparison import Effort, KindPairing, TaskComparison
from misstep.core.settings import Settings
from misstep.core.stats import holm
from misstep.errors import UsageError
from misstep.features.bench.run import benchmark_of
from misstep.runs.compare import SIGNIFICANT, find_two, pairing_of
from misstep.store.runs import Store

# A task that both runs have judged.
Pair: TypeAlias = tuple[TaskReport, TaskReport]


def compare_tasks(settings: Settings, first: str, second: str) -> TaskComparison:
    """Compare the second run with the first, on the tasks that passed or failed in both."""
    with Store(settings.store) as store:
        runs = find_two(store, first, second)
        for run in runs:
            benchmark_of(run)
        one, other = (store.tool_documents(run.id, TaskReport) for run in runs)
        pairs = _pairs(list(one), list(other))
    if not pairs:
        raise UsageError(
            f"runs {runs[0].id} and {runs[1].id} have no judged task in common",
            "run both on the same benchmark and split; fresh tasks need the same seed",
        )
    return _compare(runs[0].id, runs[1].id, pairs)


def _pairs(first: Sequence[TaskReport], second: Sequence[TaskReport]) -> list[Pair]:
    """Tasks with the same id and request, in the order of the first run."""
    known = {(task.name, task.request): task for task in second if _is_judged(task)}
    ours = sorted(filter(_is_judged, first), key=lambda task: task.place)
    return [(task, known[task.name, task.request]) for task in ours if (task.name, task.request) in known]


def _is_judged(task: TaskReport) -> bool:
    return task.verdict in ("passed", "failed")


def _passed(pair: Pair) -> tuple[bool, bool]:
    return pair[0].verdict == "passed", pair[1].verdict == "passed"


def _compare(first: str, second: str, pairs: Sequence[Pair]) -> TaskComparison:
    pairing = pairing_of([_passed(pair) for pair in pairs])
    return TaskComparison(
        first=first,
        second=second,
        pairing=pairing,
        significant=pairing.p < SIGNIFICANT,
        kinds=_kinds(pairs),
        effort=(_effort([pair[0] for pair in pairs]), _effort([pair[1] for pair in pairs])),
        lost=tuple(pair[0].name for pair in pairs if _passed(pair) == (True, False)),
        won=tuple(pair[0].name for pair in pairs if _passed(pair) == (False, True)),
    )


def _kinds(pairs: Sequence[Pair]) -> tuple[KindPairing, ...]:
    """One for each kind; none if there is only one kind."""
    kinds = list(dict.fromkeys(pair[0].kind for pair in pairs))
    if len(kinds) == 1:
        return ()
    pairings = [pairing_of([_passed(pair) for pair in pairs if pair[0].kind == kind]) for kind in kinds]
    corrected = holm([pairing.p for pairing in pairings])
    return tuple(
        KindPairing(kind, pairing, p) for kind, pairing, p in zip(kinds, pairings, corrected, strict=True)
    )


def _effort(tasks: Sequence[TaskReport]) -> Effort:
    tokens = sum(usage.input + usage.output for task in tasks for usage in task.usage.values())
    return Effort(
        calls=sum(task.calls for task in tasks) / len(tasks),
        tokens=tokens / len(tasks),
        seconds=sum(task.seconds for task in tasks) / len(tasks),
    )
