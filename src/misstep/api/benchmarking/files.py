"""Tasks on files, each in a folder of its own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from misstep.api.benchmarking.arena import Surroundings, TaskEnv
from misstep.api.benchmarking.room import GONE, Room, claimed_room
from misstep.benchmarks.files.worlds import World, judge, world_of
from misstep.benchmarks.tree import File, lay, survey
from misstep.core.benchmark import Solution, Step, Task
from misstep.core.dice import Dice, derive_seed
from misstep.core.verdict import Judgement

STRAY = "nobody asked for this.txt"
TOOLS = {
    "plain": "misstep.benchmarks.files.tools:TOOLS",
    "shell": "misstep.benchmarks.files.tools:SHELL",
    "langchain": "misstep.benchmarks.files.toolkits:langchain_tools()",
}


class Files:
    """The benchmark; it is a `Discipline`."""

    tools = TOOLS

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tasks

    @contextmanager
    def open(self) -> Iterator[TaskEnv]:
        with claimed_room() as room:
            yield _Place(room)

    def solve(self, task: Task) -> Solution:
        world = world_of(task)
        return Solution(world.solution, _damage(world, task), world.answer.text if world.answer else "")


def _damage(world: World, task: Task) -> Step:
    """Something that spoils the right end: a file deleted, overwritten, or one more; chance says which."""
    dice = Dice(derive_seed(task.seed, "damage"))
    files = [path for path, content in world.expected.items() if isinstance(content, File)]
    if not files or not dice.below(3):
        return Step("write_file", {"path": STRAY, "text": "x"})
    path = dice.pick(files)
    deleted, overwritten = Step("delete", {"path": path}), Step("write_file", {"path": path, "text": "\0"})
    return deleted if dice.below(2) else overwritten


class _Place:
    """A room in which the trees of tasks are laid; it is an `TaskEnv`."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.surroundings = Surroundings(folder=str(room.folder))

    def lay(self, task: Task) -> None:
        self._room.clear()
        lay(world_of(task).initial, self._room.folder)

    def judge(self, task: Task, said: str) -> tuple[Judgement, tuple[str, ...]]:
        if self._room.is_gone:
            return "failed", (GONE,)
        return judge(task, survey(self._room.folder), said)
