"""Benchmarks by their names."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

from misstep.api.benchmarking.arena import Discipline
from misstep.api.benchmarking.files import Files, tasks_on_files
from misstep.api.benchmarking.forge import OnForge, tasks_on_forge
from misstep.api.benchmarking.paper_files import PaperFiles
from misstep.benchmarks.files.kinds import KINDS
from misstep.benchmarks.files.paper.tasks import VERBS, read_paper
from misstep.benchmarks.forge.tasks import Kind
from misstep.core.benchmark import Benchmark, Task
from misstep.core.settings import Settings
from misstep.errors import UsageError, did_you_mean

FRESH = 100  # tasks, unless somebody says otherwise
MOST_FRESH = 10_000  # all are made before the first is set


def find_discipline(benchmark: Benchmark, settings: Settings) -> Discipline:
    """The benchmark with the tasks that the settings mean."""
    if benchmark == "files" and settings.data:
        return _paper(settings)
    if benchmark == "files":
        return Files(chosen(_on_files(settings), settings))
    return OnForge(chosen(tasks_on_forge(settings.split), settings))


def kinds_of(benchmark: Benchmark) -> tuple[str, ...]:
    """The kinds of tasks that a benchmark has, those of the paper's own among them, in their usual order."""
    return tuple(dict.fromkeys((*KINDS, *VERBS))) if benchmark == "files" else get_args(Kind)


def _on_files(settings: Settings) -> Sequence[Task]:
    count = settings.count or FRESH
    if settings.split == "fresh" and count > MOST_FRESH:
        hint = f"at most {MOST_FRESH:,} are made for a run; another --seed makes others"
        raise UsageError(f"{count:,} fresh tasks are too many", hint, where="--count")
    return tasks_on_files(settings.split, settings.seed, count)


def _paper(settings: Settings) -> Discipline:
    if settings.split == "fresh":
        raise UsageError("--split fresh can't go with --data", "the folder has all tasks that there are")
    known = read_paper(Path(settings.data))
    split = [each.task for each in known if settings.split in ("all", each.task.split)]
    return PaperFiles(known, chosen(split, settings), settings)


def chosen(tasks: Iterable[Task], settings: Settings) -> Sequence[Task]:
    """The first tasks of the kinds and domains that are wanted, in capitals or not.

    Raises a `UsageError` for one that there is not.
    """
    every = list(tasks)
    left = every
    wanted = {"kind": settings.kinds, "domain": settings.domains}
    for setting, names in wanted.items():
        known = sorted({getattr(task, setting) for task in every} - {""})
        meant = {name.casefold(): name for name in names}
        for folded, name in meant.items():
            if folded not in map(str.casefold, known):
                listed = f"known: {', '.join(known)}"
                raise UsageError(f"there is no {setting} '{name}'", did_you_mean(name, known), listed)
        left = [task for task in left if not names or getattr(task, setting).casefold() in meant]
    if not left:
        which = "of these kinds and domains " if every else ""
        raise UsageError(
            f"there are no tasks {which}in the split '{settings.split}'", "--split all takes every one"
        )
    return left[: settings.count]
