"""The file tasks: a public suite that never changes, and fresh ones from any seed.

A task is built from its kind, domain and seed: the tree before and after, the answer, and a solution.
"""

import itertools
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from misstep.benchmarks.files.answers import Answer, objections
from misstep.benchmarks.files.kinds import KINDS
from misstep.benchmarks.files.operations import Clash, Operation, Prune, execute
from misstep.benchmarks.files.scene import Domain, Plan, Scene, load_domains, load_phrasings
from misstep.benchmarks.tree import Tree, complete, differences
from misstep.core.outcome import Judgement
from misstep.core.results.benchmark import ID, Task, TaskStep, task_id
from misstep.core.rng import Dice, derive_seed
from misstep.errors import InternalError, UsageError, did_you_mean

ATTEMPTS = 500  # no task has ever needed ten
_LOOK = TaskStep("find_files", {"pattern": "*", "folder": "."})


class TaskWorld(msgspec.Struct, frozen=True):
    """All about a task; `solution` are calls of misstep's own tools, `operations` what the request means."""

    initial: Tree
    expected: Tree
    answer: Answer | None
    solution: tuple[TaskStep, ...]
    operations: tuple[Operation, ...]
    requests: tuple[str, ...]  # one for each phrasing


def world_of(task: Task) -> TaskWorld:
    """The world of a task, the same for the same kind, domain and seed, whatever the phrasing."""
    if task.benchmark != "files":
        raise UsageError(f"task '{task.id}' is one of the {task.benchmark} benchmark, not of files")
    domains, name = load_domains(), task.domain
    if name not in domains:
        hint = did_you_mean(name, domains) or f"known domains: {', '.join(domains)}"
        raise UsageError(f"unknown domain '{name}'", hint)
    return build(task.kind, domains[name], task.seed)


def judge_files(task: Task, found: Tree, said: str) -> tuple[Judgement, tuple[str, ...]]:
    """Whether the tree is exactly as expected and the answer, if there is one, right; with differences."""
    world = world_of(task)
    why = differences(world.expected, found, world.initial)
    if world.answer is not None:
        why = (*objections(world.answer, said, task.request, world.initial), *why)
    return ("failed" if why else "passed"), why


@lru_cache(maxsize=1024)
def build(kind: str, domain: Domain, seed: int) -> TaskWorld:
    """The first randomly drawn world that has a single right result."""
    if kind not in KINDS:
        hints = (f"known kinds: {', '.join(KINDS)}", did_you_mean(kind, KINDS))
        raise UsageError(f"unknown kind of task '{kind}'", *hints)
    for attempt in range(ATTEMPTS):
        dice = Dice(derive_seed(seed, kind, domain.name, attempt))
        form = dice.pick(KINDS[kind])
        try:
            plan = form(Scene(domain, dice))
            expected, steps = execute(plan.operations, plan.tree)
        except Clash:
            continue
        if plan.answer is not None or expected != complete(plan.tree):
            return _world(kind, plan, expected, steps)
    raise InternalError(f"no task of kind '{kind}' in '{domain.name}' with seed {seed}")


def _world(kind: str, plan: Plan, expected: Tree, steps: tuple[TaskStep, ...]) -> TaskWorld:
    note = ""
    held, hold = ({path.rpartition("/")[0] for path in tree if "/" in path} for tree in (plan.tree, expected))
    if any([path in expected and path not in hold for path in held]):  # the request has to mention them
        pruned = any([isinstance(operation, Prune) for operation in plan.operations])
        kept = "All other folders stay, even empty ones."
        note = kept if pruned else "Folders that end up empty should stay."
    phrasings = load_phrasings()[kind][plan.form]
    requests = tuple(f"{phrasing.format(**plan.words)} {note}".strip() for phrasing in phrasings)
    initial = complete(plan.tree)
    return TaskWorld(initial, expected, plan.answer, (_LOOK, *steps), plan.operations, requests)


PUBLIC_SEED = 2026
PER_DOMAIN = 7  # coprime with the number of kinds, so that all occur equally often
FRESH_ID = 12  # digits, so that no two of many tasks in a run share one


@cache
def public_tasks() -> Sequence[Task]:
    """Seven tasks per domain. One in five is for validation, of every kind and in every domain."""
    tasks = dict[str, Task]()
    for place, domain in enumerate(load_domains()):
        for slot in range(PER_DOMAIN):
            kind = list(KINDS)[(place * PER_DOMAIN + slot) % len(KINDS)]
            seeds = (derive_seed(PUBLIC_SEED, domain, slot, draw) for draw in itertools.count())
            proposed = (_task(kind, domain, seed) for seed in seeds)
            task = next(task for task in proposed if task.request not in tasks)
            validated = slot == place % PER_DOMAIN or (place % 5 < 2 and slot == (place + 3) % PER_DOMAIN)
            tasks[task.request] = replace(task, split="validation" if validated else "test")
    return tuple(tasks.values())


class FreshTasks(Sequence[Task]):
    """New tasks, made when accessed; a longer list of the same seed starts with the shorter one."""

    def __init__(
        self, seed: int, count: int, kinds: Collection[str] = (), domains: Collection[str] = ()
    ) -> None:
        self._drafts = list(itertools.islice(_drafts(seed, kinds or KINDS, domains or load_domains()), count))

    def __len__(self) -> int:
        return len(self._drafts)

    def __getitem__(self, place: Any) -> Any:  # typed by the base class
        if isinstance(place, slice):
            return [_task(*draft, FRESH_ID) for draft in self._drafts[place]]
        draft: tuple[str, str, int] = self._drafts[place]
        return _task(*draft, FRESH_ID)


def _drafts(seed: int, kinds: Collection[str], domains: Collection[str]) -> Iterator[tuple[str, str, int]]:
    """Kind, domain and seed of one task after another, without end."""
    known = list(load_domains())
    for place, kind in enumerate(itertools.cycle(KINDS)):
        if kind in kinds:
            own = derive_seed(seed, "files", place)
            domain = Dice(own).pick(known)
            if domain in domains:
                yield kind, domain, own


def _task(kind: str, domain: str, seed: int, digits: int = ID) -> Task:
    requests = build(kind, load_domains()[domain], seed).requests
    phrasing = Dice(derive_seed(seed, "phrasing")).below(len(requests))
    name = task_id("files", kind, domain, seed, phrasing, digits=digits)
    return Task(name, "files", kind, requests[phrasing], "fresh", domain, seed, phrasing)
