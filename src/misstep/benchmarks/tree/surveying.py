"""Reads a folder that somebody may have left in any state, and never looks outside it."""

import os
import stat
from itertools import islice
from pathlib import Path

import msgspec

from misstep.benchmarks.tree.content import Content, File, Folder, Link, Other, Tree
from misstep.errors import UsageError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Bounds(msgspec.Struct, frozen=True):
    """How much is read: entries, bytes of one file, bytes in all, folders within each other."""

    entries: int = 20_000
    file: int = 1 << 20
    in_all: int = 1 << 26
    depth: int = 64


BOUNDS = Bounds()


def survey(root: Path, bounds: Bounds = BOUNDS) -> Tree:
    """What is in a folder, by path. Links are not followed, and what is beyond the bounds is `Other`."""
    try:
        handle = os.open(root, _FOLDER)
    except OSError as error:
        raise UsageError(f"can't read the folder of a task: {error.strerror}", where=str(root)) from error
    surveyor = _Surveyor(bounds)
    surveyor.read_folder(handle, "", 0)
    return dict(sorted(surveyor.found.items()))


class _Surveyor:
    """Goes down by open folders rather than by paths, so that nothing swapped meanwhile leads it astray."""

    def __init__(self, bounds: Bounds) -> None:
        self.found: dict[str, Content] = {}
        self._bounds = bounds
        self._room = bounds.in_all

    def read_folder(self, handle: int, path: str, depth: int) -> None:
        """List what is in an open folder, and close it."""
        try:
            room = self._bounds.entries - len(self.found)
            with os.scandir(handle) as entries:
                names = [entry.name for entry in islice(entries, room + 1)]
            if len(names) > room:
                self.found[path or "."] = Other("a folder with too much in it")
                return
            for name in sorted(names):
                self._read(handle, name, f"{path}/{name}" if path else name, depth + 1)
        except OSError as error:
            self.found[path or "."] = Other(f"a folder that can't be read ({error.strerror})")
        finally:
            os.close(handle)

    def _read(self, parent: int, name: str, path: str, depth: int) -> None:
        try:
            mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                self.found[path] = Link(os.readlink(name, dir_fd=parent))
            elif stat.S_ISREG(mode):
                self.found[path] = self._file(os.open(name, _FILE, dir_fd=parent))
            elif not stat.S_ISDIR(mode):
                self.found[path] = Other(_SORTS.get(stat.S_IFMT(mode), "something that is no file"))
            elif depth >= self._bounds.depth:
                self.found[path] = Other("a folder too deep to be read")
            else:
                self.found[path] = Folder()
                self.read_folder(os.open(name, _FOLDER, dir_fd=parent), path, depth)
        except OSError as error:
            self.found[path] = Other(f"something that can't be read ({error.strerror})")

    def _file(self, handle: int) -> Content:
        with os.fdopen(handle, "rb") as file:
            size = os.fstat(handle).st_size
            most = min(self._bounds.file, self._room)
            # A file may grow, and some have no size, so that what counts is what there is to read.
            data = file.read(most + 1) if size <= most else b""
        if size > most or len(data) > most:
            return Other(f"a file of {max(size, len(data)):,} bytes, too large to be read")
        self._room -= len(data)
        return File(data)


_SORTS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
