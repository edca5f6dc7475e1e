"""The tasks: a public suite that never changes, and fresh ones from any seed."""

import itertools
from collections.abc import Sequence
from functools import cache

from msgspec.structs import replace

from misstep.benchmarks.files.kinds import KINDS
from misstep.benchmarks.files.vocabulary import load_domains
from misstep.benchmarks.files.worlds import build
from misstep.core.benchmark import Split, Task, task_id
from misstep.core.dice import Dice, derive_seed

PUBLIC_SEED = 2026
PER_DOMAIN = 7  # which has no divisor in common with the number of kinds, so that all come up equally often


@cache
def public_tasks() -> Sequence[Task]:
    """Seven tasks in each domain. One in five is for validation, of every kind and in every domain."""
    tasks = dict[str, Task]()
    for place, domain in enumerate(load_domains()):
        for slot in range(PER_DOMAIN):
            kind = list(KINDS)[(place * PER_DOMAIN + slot) % len(KINDS)]
            proposed = (
                _task(kind, domain, derive_seed(PUBLIC_SEED, domain, slot, draw))
                for draw in itertools.count()
            )
            task = next(task for task in proposed if task.request not in tasks)
            tasks[task.request] = replace(task, split=_split(place, slot))
    return tuple(tasks.values())


def fresh_tasks(seed: int, count: int) -> Sequence[Task]:
    """Tasks that nobody has seen. A longer list of the same seed begins with the shorter one."""
    return tuple(_fresh(derive_seed(seed, "files", place), place) for place in range(count))


def _split(place: int, slot: int) -> Split:
    chosen = {place % PER_DOMAIN} | ({(place + 3) % PER_DOMAIN} if place % 5 < 2 else set[int]())
    return "validation" if slot in chosen else "test"


def _fresh(seed: int, place: int) -> Task:
    return _task(list(KINDS)[place % len(KINDS)], Dice(seed).pick(list(load_domains())), seed)


def _task(kind: str, domain: str, seed: int) -> Task:
    requests = build(kind, load_domains()[domain], seed).requests
    phrasing = Dice(derive_seed(seed, "phrasing")).below(len(requests))
    name = task_id("files", kind, domain, seed, phrasing)
    return Task(name, "files", kind, requests[phrasing], "fresh", domain, seed, phrasing)
