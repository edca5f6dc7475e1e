"""What a benchmark has to offer so that its tasks can be put to an agent."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import msgspec

from misstep.core.benchmark import Solution, Task
from misstep.core.verdict import Judgement


class Surroundings(msgspec.Struct, frozen=True):
    """What tools need to find around them: the folder they start in, variables, the network."""

    folder: str = ""
    environment: dict[str, str] = {}
    allow_network: bool = False


class TaskEnv(Protocol):
    """A place in which one task at a time is put to an agent, and nothing else happens."""

    @property
    def surroundings(self) -> Surroundings: ...

    def lay(self, task: Task) -> None:
        """Make everything as it has to be when the task begins, whatever it was before."""
        ...

    def judge(self, task: Task, said: str) -> tuple[Judgement, tuple[str, ...]]:
        """Whether all is as it has to be in the end, after these last words; if not, what is different."""
        ...


class Discipline(Protocol):
    """A benchmark: its tasks, and places for them."""

    @property
    def tasks(self) -> Sequence[Task]: ...

    @property
    def tools(self) -> dict[str, str]:
        """Specs of tools for the tasks by the words that mean them, the usual ones first."""
        ...

    def open(self) -> AbstractContextManager[TaskEnv]:
        """A place of one's own."""
        ...

    def solve(self, task: Task) -> Solution:
        """How the task is done with the usual tools."""
        ...
