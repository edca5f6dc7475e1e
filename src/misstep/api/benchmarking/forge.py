"""Tasks on a forge, each on one that is as it was at the start."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from misstep.api.benchmarking.arena import Surroundings, TaskEnv
from misstep.api.benchmarking.room import claimed_room
from misstep.benchmarks.forge.forge import Forge
from misstep.benchmarks.forge.judging import judge
from misstep.benchmarks.forge.solutions import solution
from misstep.core.benchmark import Solution, Task
from misstep.core.verdict import Judgement

TOOLS = {
    "plain": "misstep.benchmarks.forge.tools:TOOLS",
    "langchain": "misstep.benchmarks.forge.toolkit:github_tools()",
}


class OnForge:
    """The benchmark; it is a `Discipline`. Tools reach the forge over the network of this machine."""

    tools = TOOLS

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tasks

    @contextmanager
    def open(self) -> Iterator[TaskEnv]:
        with claimed_room() as room, Forge(room.folder) as forge:
            yield _House(forge)

    def solve(self, task: Task) -> Solution:
        return solution(task)


class _House:
    """A forge with one visitor at a time."""

    def __init__(self, forge: Forge) -> None:
        self._forge = forge
        self.surroundings = Surroundings(environment=forge.environment, allow_network=True)

    def lay(self, task: Task) -> None:
        del task  # all begin alike
        self._forge.reset()

    def judge(self, task: Task, said: str) -> tuple[Judgement, tuple[str, ...]]:
        return judge(task, self._forge.state(), said)
