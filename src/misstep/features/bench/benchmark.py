"""A folder on the disk for one task after the other.

What a benchmark has to offer so that its tasks can be put to an agent.
"""

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


class BenchmarkSuite(Protocol):
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


GONE = "the folder of the task is gone"
BLOCK = 512  # bytes, as the system counts them
MOST_BYTES = 256 << 20
MOST_ENTRIES = 50_000
OVERFULL = f"more than {MOST_BYTES >> 20} MB or {MOST_ENTRIES:,} files were put there, so it was emptied"


class Room:
    """The folder that tools start in; whatever becomes of it, nothing beside it is touched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def is_gone(self) -> bool:
        """Whether there is no folder any more, or a link in its place, which no sandbox lets anybody do."""
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
    """A room of one's own, of which nothing is left behind; those of the dead are removed."""
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
    """Whether there is more in a folder, if there is one, than any task could want. No link is followed."""
    size, entries, waiting = 0, 0, [folder] if folder else []
    while waiting:
        with suppress(OSError):  # it is gone by now, or too deep for anything to be seen there
            for each in os.scandir(waiting.pop()):
                entries += 1
                size += each.stat(follow_symlinks=False).st_blocks * BLOCK
                if each.is_dir(follow_symlinks=False):
                    waiting.append(each.path)
        if size > MOST_BYTES or entries > MOST_ENTRIES:
            return True
    return False
