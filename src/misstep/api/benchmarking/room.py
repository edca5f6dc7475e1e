"""A folder on the disk for one task after the other."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from misstep.errors import UsageError
from misstep.tool_host.sandbox.removal import empty
from misstep.tool_host.sandbox.scratch_dir import ScratchDir, sweep

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
