"""The benchmarks: tasks on files, the ToolFuzz paper's tasks on files, and tasks on a forge."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

from misstep.benchmarks.files.kinds import KINDS
from misstep.benchmarks.files.paper_tasks import VERBS, PaperTask, doubts, judge_paper, read_paper, read_text
from misstep.benchmarks.files.scene import load_domains
from misstep.benchmarks.files.suite import FreshTasks, TaskWorld, judge_files, public_tasks, world_of
from misstep.benchmarks.forge.forge import Forge
from misstep.benchmarks.forge.tasks import Kind, forge_tasks, judge_forge, solution
from misstep.benchmarks.tree import File, Tree, lay, survey
from misstep.core.outcome import Judgement
from misstep.core.results.benchmark import Benchmark, Solution, Task, TaskStep
from misstep.core.rng import Dice, derive_seed
from misstep.core.settings import BenchSettings, ToolSettings
from misstep.core.tool import Invocation, Probe, Reaction
from misstep.errors import UsageError, did_you_mean
from misstep.features.bench.environments import (
    GONE,
    BenchmarkSuite,
    Surroundings,
    TaskEnv,
    TaskFolder,
    new_task_folder,
)
from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions, Limits

STRAY = "nobody asked for this.txt"
FILE_TOOLS = {
    "plain": "misstep.benchmarks.files.tools:TOOLS",
    "shell": "misstep.benchmarks.files.tools:SHELL",
    "langchain": "misstep.benchmarks.files.toolkits:langchain_tools()",
}


class FileBenchmark:
    """Tasks on files, each in its own folder; it is a `BenchmarkSuite`."""

    tools = FILE_TOOLS

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tasks

    @contextmanager
    def open(self) -> Iterator[TaskEnv]:
        with new_task_folder() as folder:
            yield _FileEnv(folder)

    def solve(self, task: Task) -> Solution:
        world = world_of(task)
        return Solution(world.solution, _damage(world, task), world.answer.text if world.answer else "")


def _damage(world: TaskWorld, task: Task) -> TaskStep:
    """A step that spoils the expected end state: delete, overwrite or add a file, chosen at random."""
    dice = Dice(derive_seed(task.seed, "damage"))
    files = [path for path, content in world.expected.items() if isinstance(content, File)]
    if not files or not dice.below(3):
        return TaskStep("write_file", {"path": STRAY, "text": "x"})
    path = dice.pick(files)
    if dice.below(2):
        return TaskStep("delete", {"path": path})
    return TaskStep("write_file", {"path": path, "text": "\0"})


class _FileEnv:
    """A folder in which the files of tasks are created; it is a `TaskEnv`."""

    def __init__(self, folder: TaskFolder) -> None:
        self._folder = folder
        self.surroundings = Surroundings(folder=str(folder.path))

    def lay(self, task: Task) -> None:
        self._folder.clear()
        lay(world_of(task).initial, self._folder.path)

    def judge(self, task: Task, said: str) -> tuple[Judgement, tuple[str, ...]]:
        if self._folder.is_gone:
            return "failed", (GONE,)
        return self._judge(task, survey(self._folder.path), said)

    def _judge(self, task: Task, found: Tree, said: str) -> tuple[Judgement, tuple[str, ...]]:
        return judge_files(task, found, said)


SETTING_UP = "misstep.benchmarks.files.shell:set_up"
MOST_DOUBTS = 3
PATIENCE = 90.0  # seconds for a script, with a margin


class PaperBenchmark:
    """Tasks on files in the ToolFuzz paper's layout, set up by its scripts; it is a `BenchmarkSuite`."""

    tools = FILE_TOOLS

    def __init__(self, known: Sequence[PaperTask], tasks: Sequence[Task], settings: ToolSettings) -> None:
        self.tasks = tasks
        self._known = {each.task.id: each for each in known}
        self._settings = settings

    @contextmanager
    def open(self) -> Iterator[TaskEnv]:
        with new_task_folder() as folder:
            limits = Limits(timeout=PATIENCE, memory=self._settings.memory << 20)
            conditions = CallConditions(self._settings.sandbox, limits, folder=str(folder.path))
            with ToolHost(SETTING_UP, conditions) as host:
                yield _PaperEnv(folder, host, self._known)

    def solve(self, task: Task) -> Solution:
        hint = "simulated agents can't do it: use a real one"
        raise UsageError(f"no solution is known for task '{task.id}' of the paper", hint)


class _PaperEnv(_FileEnv):
    def __init__(self, folder: TaskFolder, host: ToolHost, known: dict[str, PaperTask]) -> None:
        super().__init__(folder)
        self._host = host
        self._known = known
        self._initial: Tree = {}

    def lay(self, task: Task) -> None:
        each = self._known[task.id]
        self._host.forget()
        self._folder.clear()
        call = Invocation("set_up", json.dumps({"script": read_text(each.setup)}))
        if problem := _problem(list(self._host.run([Probe(call)]))):
            raise UsageError(f"the set-up script failed: {problem}", where=str(each.setup))
        self._host.forget()  # so that nothing it started keeps running
        self._initial = survey(self._folder.path)

    def _judge(self, task: Task, found: Tree, said: str) -> tuple[Judgement, tuple[str, ...]]:  # noqa: ARG002
        each = self._known[task.id]
        verdict, why = judge_paper(each, found, self._initial)
        odd = () if verdict == "passed" else doubts(each, self._initial)[:MOST_DOUBTS]
        return verdict, (*why, *odd)


def _problem(reactions: Sequence[Reaction]) -> str:
    """What went wrong; empty if nothing did."""
    if not reactions:
        return "it was not run"
    (reaction,) = reactions
    if reaction.ended == "returned":
        return json.loads(reaction.text) if reaction.text.startswith('"') else reaction.text
    return reaction.detail or (reaction.raised.message if reaction.raised else reaction.ended)


FORGE_TOOLS = {
    "plain": "misstep.benchmarks.forge.tools:TOOLS",
    "langchain": "misstep.benchmarks.forge.toolkit:github_tools()",
}


class ForgeBenchmark:
    """Tasks on a local forge; it is a `BenchmarkSuite`. Tools reach the forge over this machine's network."""

    tools = FORGE_TOOLS

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tasks

    @contextmanager
    def open(self) -> Iterator[TaskEnv]:
        with new_task_folder() as folder, Forge(folder.path) as forge:
            yield _ForgeEnv(forge)

    def solve(self, task: Task) -> Solution:
        return solution(task)


class _ForgeEnv:
    """A forge that is reset for each task; it is a `TaskEnv`."""

    def __init__(self, forge: Forge) -> None:
        self._forge = forge
        self.surroundings = Surroundings(environment=forge.environment, allow_network=True)

    def lay(self, task: Task) -> None:
        del task  # all tasks have the same start state
        self._forge.reset()

    def judge(self, task: Task, said: str) -> tuple[Judgement, tuple[str, ...]]:  # noqa: ARG002
        return judge_forge(task, self._forge.state())


FRESH = 100  # tasks by default
MOST_FRESH = 10_000  # a report holds the results of all tasks


def find_suite(benchmark: Benchmark, settings: BenchSettings) -> BenchmarkSuite:
    is_fresh = settings.split == "fresh"
    if benchmark == "forge":
        if is_fresh:
            hint = "use --split validation, test or all"
            raise UsageError("the forge benchmark has a fixed set of tasks", hint)
        return ForgeBenchmark(chosen(forge_tasks(), settings))
    if settings.data:
        if is_fresh:
            hint = "the folder contains a fixed set of tasks"
            raise UsageError("--split fresh can't be combined with --data", hint)
        known = read_paper(Path(settings.data))
        return PaperBenchmark(known, chosen([each.task for each in known], settings), settings)
    return FileBenchmark(_fresh(settings) if is_fresh else chosen(public_tasks(), settings))


def kinds_of(benchmark: Benchmark) -> tuple[str, ...]:
    """The kinds of tasks of a benchmark, including those of the paper, in their usual order."""
    return tuple(dict.fromkeys((*KINDS, *VERBS))) if benchmark == "files" else get_args(Kind)


def chosen(tasks: Iterable[Task], settings: BenchSettings) -> Sequence[Task]:
    """The first tasks of the selected split, kinds and domains.

    Raises a `UsageError` for an unknown kind or domain, and if no task is left.
    """
    split = [task for task in tasks if settings.split in ("all", task.split)]
    if not split:
        hint = "use --split all for every task"
        raise UsageError(f"there are no tasks in the split '{settings.split}'", hint)
    kinds = _meant("kind", settings.kinds, {task.kind for task in split})
    domains = _meant("domain", settings.domains, {task.domain for task in split})
    left = [task for task in split if task.kind in kinds and task.domain in domains]
    if not left:
        hint = "omit --kind or --domain, or use --split all"
        raise UsageError(f"the split '{settings.split}' has no task of such a kind in such a domain", hint)
    return left[: settings.count]


def _fresh(settings: BenchSettings) -> Sequence[Task]:
    count = settings.count or FRESH
    if count > MOST_FRESH:
        hint = f"at most {MOST_FRESH:,} per run; use another --seed for others"
        raise UsageError(f"{count:,} fresh tasks are too many", hint, where="--count")
    kinds = _meant("kind", settings.kinds, KINDS)
    return FreshTasks(settings.seed, count, kinds, _meant("domain", settings.domains, load_domains()))


def _meant(what: str, names: Iterable[str], known: Iterable[str]) -> set[str]:
    """The known names that are selected, ignoring case; all if none is given."""
    by_name = {each.casefold(): each for each in known}
    for name in names:
        if name.casefold() not in by_name:
            listed = sorted(filter(None, by_name.values()))
            hints = (did_you_mean(name, listed), f"known: {', '.join(listed)}")
            raise UsageError(f"there is no {what} '{name}'", *hints)
    return {by_name[name.casefold()] for name in names} or {*by_name.values()}
