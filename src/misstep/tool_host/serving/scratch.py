"""Restores the folders that tools can write to, and lists file names for the fuzzer to use."""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

MOST = 50
DEEPEST = 3  # components of a name
LONGEST = 200  # characters of a name


def names_in(folder: str) -> list[str]:
    """Relative paths of files, folders and links: sorted, nearest first."""
    return list(islice(_names_in(folder), MOST))


def _names_in(folder: str) -> Iterator[str]:
    waiting = [""]
    while waiting:
        inner = waiting.pop(0)
        for entry in _entries(os.path.join(folder, inner)):
            name = os.path.join(inner, entry.name)
            if name.isprintable() and len(name) <= LONGEST:
                yield name
                if entry.is_dir(follow_symlinks=False) and name.count(os.sep) + 1 < DEEPEST:
                    waiting.append(name)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as found:
        return sorted(islice(found, 4 * MOST), key=lambda entry: entry.name)
    return []


KEPT_BITS = 0o7777


class _Entry(NamedTuple):
    """The saved state of a file, folder or link, with a stamp that shows later changes."""

    mode: int
    stamp: tuple[int, ...]
    content: bytes


class Scratch:
    """A copy of the folders' contents at creation. Other mounts below them are ignored."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = tuple(roots)
        self._entries = {path: _read(path, found) for path, found in self._walk()}

    def restore(self) -> bool:
        """Restore the contents. Returns whether that worked."""
        try:
            self._clear()
            for path, entry in self._entries.items():
                if not os.path.lexists(path):
                    self._entries[path] = _written(path, entry)
        except (OSError, RecursionError):
            return False
        return all(os.path.lexists(path) for path in self._entries)

    def _clear(self) -> None:
        """Remove what is new or has changed."""
        for path, found in self._walk():
            entry = self._entries.get(path)
            if entry is None or stat.S_IFMT(entry.mode) != stat.S_IFMT(found.st_mode):
                shutil.rmtree(path) if stat.S_ISDIR(found.st_mode) else os.unlink(path)
            elif stat.S_ISDIR(found.st_mode):
                if entry.mode != found.st_mode:
                    os.chmod(path, entry.mode & KEPT_BITS)
            elif entry.stamp != _stamp(found):
                os.unlink(path)

    def _walk(self) -> Iterator[tuple[str, os.stat_result]]:
        """Everything in the folders, parents first. Folders are made accessible before they are listed."""
        for root in self._roots:
            with suppress(FileNotFoundError):
                yield from _walk(root, os.lstat(root).st_dev)


def _walk(folder: str, device: int) -> Iterator[tuple[str, os.stat_result]]:
    waiting = [folder]
    while waiting:
        folder = waiting.pop()
        with suppress(OSError):
            os.chmod(folder, os.lstat(folder).st_mode & KEPT_BITS | stat.S_IRWXU)
        for each in list(os.scandir(folder)):
            found = each.stat(follow_symlinks=False)
            if found.st_dev != device:
                continue
            yield each.path, found
            if stat.S_ISDIR(found.st_mode) and os.path.isdir(each.path):
                waiting.append(each.path)


def _stamp(found: os.stat_result) -> tuple[int, ...]:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _read(path: str, found: os.stat_result) -> _Entry:
    content = b""
    if stat.S_ISREG(found.st_mode):
        with open(path, "rb") as file:
            content = file.read()
    elif stat.S_ISLNK(found.st_mode):
        content = os.fsencode(os.readlink(path))
    return _Entry(found.st_mode, _stamp(found), content)


def _written(path: str, entry: _Entry) -> _Entry:
    """Recreate the entry and return its new state; sockets and other special files are skipped."""
    if stat.S_ISDIR(entry.mode):
        os.mkdir(path)
    elif stat.S_ISLNK(entry.mode):
        os.symlink(os.fsdecode(entry.content), path)
    elif stat.S_ISREG(entry.mode):
        with open(path, "xb") as file:
            file.write(entry.content)
    else:
        return entry
    if not stat.S_ISLNK(entry.mode):
        os.chmod(path, entry.mode & KEPT_BITS)
    return entry._replace(stamp=_stamp(os.lstat(path)))
