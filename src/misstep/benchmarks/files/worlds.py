"""What a task is about: the tree at its start, the one at its end, the answer, a way that leads there."""

from collections.abc import Iterator
from functools import lru_cache

import msgspec

from misstep.benchmarks.files.answers import Answer, objections
from misstep.benchmarks.files.drawing import Scene
from misstep.benchmarks.files.executing import Clash, execute
from misstep.benchmarks.files.kinds import KINDS
from misstep.benchmarks.files.operations import Operation, Prune
from misstep.benchmarks.files.plan import Plan
from misstep.benchmarks.files.vocabulary import Domain, load_domains, load_phrasings
from misstep.benchmarks.tree import Tree, complete, differences
from misstep.core.benchmark import Step, Task
from misstep.core.dice import Dice, derive_seed
from misstep.core.verdict import Judgement
from misstep.errors import InternalError, UsageError, did_you_mean

ATTEMPTS = 500  # no task has ever taken ten
_LOOK = Step("find_files", {"pattern": "*", "folder": "."})


class World(msgspec.Struct, frozen=True):
    """`solution` are calls of our own tools; `operations` are what the request means."""

    initial: Tree
    expected: Tree
    answer: Answer | None
    solution: tuple[Step, ...]
    operations: tuple[Operation, ...]
    requests: tuple[str, ...]  # in each of its phrasings


def world_of(task: Task) -> World:
    """The same for the same kind, domain and seed, whatever the phrasing."""
    if task.benchmark != "files":
        raise UsageError(f"task '{task.id}' is one of the {task.benchmark} benchmark, not of files")
    return build(task.kind, _domain(task.domain), task.seed)


def judge(task: Task, found: Tree, said: str) -> tuple[Judgement, tuple[str, ...]]:
    """Whether the tree is exactly as it should be, and the answer right if there is one; what is not."""
    world = world_of(task)
    why = differences(world.expected, found, world.initial)
    if world.answer is not None:
        why = (*objections(world.answer, said, task.request, world.initial), *why)
    return ("failed" if why else "passed"), why


@lru_cache(maxsize=1024)
def build(kind: str, domain: Domain, seed: int) -> World:
    """The first world that has a single right end, among those that chance proposes."""
    if kind not in KINDS:
        raise UsageError(
            f"unknown kind of task '{kind}'", f"known kinds: {', '.join(KINDS)}", did_you_mean(kind, KINDS)
        )
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


def _world(kind: str, plan: Plan, expected: Tree, steps: tuple[Step, ...]) -> World:
    phrasings = load_phrasings()[kind][plan.form]
    note = " ".join(_notes(plan, expected))
    requests = tuple(f"{phrasing.format(**plan.words)} {note}".strip() for phrasing in phrasings)
    initial = complete(plan.tree)
    return World(initial, expected, plan.answer, (_LOOK, *steps), plan.operations, requests)


def _notes(plan: Plan, expected: Tree) -> Iterator[str]:
    """What has to be said about folders that have nothing in them any more."""
    held, hold = _parents(plan.tree), _parents(expected)
    if any([path in expected and path not in hold for path in held]):
        pruned = any([isinstance(operation, Prune) for operation in plan.operations])
        yield (
            "All other folders stay, even empty ones." if pruned else "Folders that end up empty should stay."
        )


def _parents(tree: Tree) -> set[str]:
    return {path.rpartition("/")[0] for path in tree if "/" in path}


def _domain(name: str) -> Domain:
    domains = load_domains()
    if name not in domains:
        hint = did_you_mean(name, domains) or f"known domains: {', '.join(domains)}"
        raise UsageError(f"unknown domain '{name}'", hint)
    return domains[name]
