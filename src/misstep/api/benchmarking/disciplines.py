"""Benchmarks by their names."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

from misstep.api.benchmarking.arena import Discipline
from misstep.api.benchmarking.files import Files
from misstep.api.benchmarking.forge import OnForge
from misstep.api.benchmarking.paper_files import PaperFiles
from misstep.benchmarks.files.kinds import KINDS
from misstep.benchmarks.files.paper.tasks import VERBS, read_paper
from misstep.benchmarks.files.suite import FreshTasks, public_tasks
from misstep.benchmarks.files.vocabulary import load_domains
from misstep.benchmarks.forge.tasks import Kind, forge_tasks
from misstep.core.benchmark import Benchmark, Task
from misstep.core.settings import Settings
from misstep.errors import UsageError, did_you_mean

FRESH = 100  # tasks, unless somebody says otherwise
MOST_FRESH = 10_000  # a report holds all that came of a run


def find_discipline(benchmark: Benchmark, settings: Settings) -> Discipline:
    """The benchmark with the tasks that the settings mean."""
    is_fresh = settings.split == "fresh"
    if benchmark == "forge":
        if is_fresh:
            hint = "take --split validation, test or all"
            raise UsageError("the tasks on the forge are always the same", hint)
        return OnForge(chosen(forge_tasks(), settings))
    if settings.data:
        if is_fresh:
            hint = "the folder has all tasks that there are"
            raise UsageError("--split fresh can't go with --data", hint)
        known = read_paper(Path(settings.data))
        return PaperFiles(known, chosen([each.task for each in known], settings), settings)
    return Files(_fresh(settings) if is_fresh else chosen(public_tasks(), settings))


def kinds_of(benchmark: Benchmark) -> tuple[str, ...]:
    """The kinds of tasks that a benchmark has, those of the paper's own among them, in their usual order."""
    return tuple(dict.fromkeys((*KINDS, *VERBS))) if benchmark == "files" else get_args(Kind)


def chosen(tasks: Iterable[Task], settings: Settings) -> Sequence[Task]:
    """The first tasks of the split, kinds and domains that are wanted.

    Raises a `UsageError` for a kind or domain that there is not, and where no task is left.
    """
    split = [task for task in tasks if settings.split in ("all", task.split)]
    if not split:
        raise UsageError(f"there are no tasks in the split '{settings.split}'", "--split all takes every one")
    kinds = _meant("kind", settings.kinds, {task.kind for task in split})
    domains = _meant("domain", settings.domains, {task.domain for task in split})
    left = [task for task in split if task.kind in kinds and task.domain in domains]
    if not left:
        hint = "leave out --kind or --domain, or take --split all"
        raise UsageError(f"the split '{settings.split}' has no task of such a kind in such a domain", hint)
    return left[: settings.count]


def _fresh(settings: Settings) -> Sequence[Task]:
    count = settings.count or FRESH
    if count > MOST_FRESH:
        hint = f"at most {MOST_FRESH:,} are made for a run; another --seed makes others"
        raise UsageError(f"{count:,} fresh tasks are too many", hint, where="--count")
    kinds = _meant("kind", settings.kinds, KINDS)
    return FreshTasks(settings.seed, count, kinds, _meant("domain", settings.domains, load_domains()))


def _meant(what: str, names: Iterable[str], known: Iterable[str]) -> set[str]:
    """Those of the known that are named, in capitals or not; all if none is."""
    by_name = {each.casefold(): each for each in known}
    for name in names:
        if name.casefold() not in by_name:
            listed = sorted(filter(None, by_name.values()))
            hints = (did_you_mean(name, listed), f"known: {', '.join(listed)}")
            raise UsageError(f"there is no {what} '{name}'", *hints)
    return {by_name[name.casefold()] for name in names} or {*by_name.values()}
