"""Reads the forge tasks from their data file."""

from collections.abc import Sequence
from functools import cache
from typing import Literal

import msgspec

from misstep.benchmarks.forge.ledger import read_data
from misstep.core.results.benchmark import Task, task_id
from misstep.errors import UsageError

Kind = Literal[
    "comment-on-issue",
    "update-file",
    "create-pull-request",
    "create-file",
    "delete-file",
    "create-branch",
]
Split = Literal["validation", "test"]


class Goal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a task asks for. A branch with a `start` is new and starts there."""

    kind: Kind
    split: Split
    request: str
    issue: int = 0
    body: str = ""
    branch: str = ""
    start: str = ""
    path: str = ""
    old: str = ""
    new: str = ""
    added: str = ""  # what `new` has in addition to `old`
    content: str = ""
    title: str = ""
    head: str = ""
    base: str = ""

    @property
    def words(self) -> str:
        """The request with its placeholders filled."""
        text = self.request
        for name in self.__struct_fields__:
            text = text.replace(f"{{{name}}}", str(getattr(self, name)).rstrip("\n"))
        return text


class _Written(msgspec.Struct, frozen=True):
    tasks: tuple[Goal, ...]


@cache
def forge_tasks() -> Sequence[Task]:
    """All tasks, always the same and in the same order."""
    return tuple(
        Task(task_id("forge", goal.kind, number), "forge", goal.kind, goal.words, goal.split, seed=number)
        for number, goal in enumerate(_goals(), 1)
    )


def goal_of(task: Task) -> Goal:
    """What a task asks for; `UsageError` for an unknown task."""
    known = forge_tasks()
    if not 1 <= task.seed <= len(known) or known[task.seed - 1].id != task.id:
        raise UsageError(
            f"there is no forge task {task.id!r}",
            f"known tasks: {known[0].id} … {known[-1].id}, {len(known)} in all",
        )
    return _goals()[task.seed - 1]


@cache
def _goals() -> tuple[Goal, ...]:
    return msgspec.toml.decode(read_data("tasks.toml"), type=_Written).tasks
