"""The tasks: a public suite that never changes, and fresh ones from any seed."""

import itertools
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import overload

from msgspec.structs import replace

from misstep.benchmarks.files.kinds import KINDS
from misstep.benchmarks.files.vocabulary import load_domains
from misstep.benchmarks.files.worlds import build
from misstep.core.benchmark import ID, Split, Task, task_id
from misstep.core.dice import Dice, derive_seed

PUBLIC_SEED = 2026
PER_DOMAIN = 7  # which has no divisor in common with the number of kinds, so that all come up equally often
FRESH_ID = 12  # digits, so that no two of many tasks in a run have the same


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


class FreshTasks(Sequence[Task]):
    """So many tasks that nobody has seen, of some kinds and domains; each is made when it is looked at.

    A longer list of the same seed begins with the shorter one.
    """

    def __init__(
        self, seed: int, count: int, kinds: Collection[str] = (), domains: Collection[str] = ()
    ) -> None:
        self._drafts = list(itertools.islice(_drafts(seed, kinds or KINDS, domains or load_domains()), count))

    def __len__(self) -> int:
        return len(self._drafts)

    @overload
    def __getitem__(self, place: int) -> Task: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Task]: ...

    def __getitem__(self, place: int | slice) -> Task | Sequence[Task]:
        if isinstance(place, slice):
            return [_task(*draft, FRESH_ID) for draft in self._drafts[place]]
        return _task(*self._drafts[place], FRESH_ID)


def _drafts(seed: int, kinds: Collection[str], domains: Collection[str]) -> Iterator[tuple[str, str, int]]:
    """Kind, domain and seed of one task after the other, without end."""
    known = list(load_domains())
    for place, kind in enumerate(itertools.cycle(KINDS)):
        if kind in kinds:
            own = derive_seed(seed, "files", place)
            domain = Dice(own).pick(known)
            if domain in domains:
                yield kind, domain, own


def _split(place: int, slot: int) -> Split:
    chosen = {place % PER_DOMAIN} | ({(place + 3) % PER_DOMAIN} if place % 5 < 2 else set[int]())
    return "validation" if slot in chosen else "test"


def _task(kind: str, domain: str, seed: int, digits: int = ID) -> Task:
    requests = build(kind, load_domains()[domain], seed).requests
    phrasing = Dice(derive_seed(seed, "phrasing")).below(len(requests))
    name = task_id("files", kind, domain, seed, phrasing, digits=digits)
    return Task(name, "files", kind, requests[phrasing], "fresh", domain, seed, phrasing)
