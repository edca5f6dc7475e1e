"""The interface of a benchmark, and the folder in which the tools of its tasks work."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Protocol

import msgspec

from misstep.core.outcome import Judgement
from misstep.core.results.benchmark import Solution, Task
from misstep.errors import UsageError
from misstep.tool_host.sandbox.scratch_dir import ScratchDir, empty, sweep


class Surroundings(msgspec.Struct, frozen=True):
    """The environment of tools: the folder they start in, variables, whether they have network."""

    folder: str = ""
    environment: dict[str, str] = {}
    allow_network: bool = False


class TaskEnv(Protocol):
    """An environment in which an agent works on one task at a time."""

    @property
    def surroundings(self) -> Surroundings: ...

    def lay(self, task: Task) -> None:
        """Set up the start state of the task, whatever was there before."""
        ...

    def judge(self, task: Task, said: str) -> tuple[Judgement, tuple[str, ...]]:
        """Compare the end state and the agent's last message with what is expected; say what differs."""
        ...


class BenchmarkSuite(Protocol):
    """A benchmark: its tasks, and environments for them."""

    @property
    def tasks(self) -> Sequence[Task]: ...

    @property
    def tools(self) -> dict[str, str]:
        """Specs of tools for the tasks by their short names, the default ones first."""
        ...

    def open(self) -> AbstractContextManager[TaskEnv]:
        """A new environment."""
        ...

    def solve(self, task: Task) -> Solution:
        """A correct solution of the task with the default tools."""
        ...


GONE = "the folder of the task is gone"
BLOCK = 512  # bytes, as the system counts them
MOST_BYTES = 256 << 20
MOST_ENTRIES = 50_000
OVERFULL = f"more than {MOST_BYTES >> 20} MB or {MOST_ENTRIES:,} files were put there, so it was emptied"


class Room:
    """The folder that tools start in; nothing outside it is touched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def is_gone(self) -> bool:
        """Whether the folder is missing or replaced by a link, which no sandbox allows."""
        return self.folder.is_symlink() or not self.folder.is_dir()

    def clear(self) -> None:
        """Make it a folder with nothing in it."""
        try:
            if self.is_gone:
                self.folder.unlink(missing_ok=True)
                self.folder.mkdir()
            empty(str(self.folder))
        except OSError as error:
            problem = f"the folder for tasks can't be emptied: {error.strerror}"
            raise UsageError(problem, where=error.filename or str(self.folder)) from error


@contextmanager
def claimed_room() -> Iterator[Room]:
    """A new room, which is removed at the end; rooms left by processes that died are removed too."""
    sweep()
    ground = ScratchDir()
    ground.claim()
    try:
        room = Room(Path(ground.path, "work"))
        room.clear()
        yield room
    finally:
        ground.leave()


def is_overfull(folder: str) -> bool:
    """Whether a folder, if it exists, holds more than any task could need. Links are not followed."""
    size, entries, waiting = 0, 0, [folder] if folder else []
    while waiting:
        with suppress(OSError):  # already removed, or nested too deep to be read
            for each in os.scandir(waiting.pop()):
                entries += 1
                size += each.stat(follow_symlinks=False).st_blocks * BLOCK
                if each.is_dir(follow_symlinks=False):
                    waiting.append(each.path)
        if size > MOST_BYTES or entries > MOST_ENTRIES:
            return True
    return False
