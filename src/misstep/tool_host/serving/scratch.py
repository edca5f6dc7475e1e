"""The folders that tools can write to, which can be put back to what they were.

Names of the files that tools find where they start, since made-up names lead nowhere.
"""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

MOST = 50
DEEPEST = 3  # parts of a name
LONGEST = 200  # characters of one


def names_in(folder: str) -> list[str]:
    """Files, folders and links, seen from the folder: in order, and those that are nearest first."""
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
    """A file, folder or link as it was, with what tells whether it has been touched since."""

    mode: int
    stamp: tuple[int, ...]
    content: bytes


class Scratch:
    """A copy of what was in the folders when it was made. What others have mounted there is left alone."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = tuple(roots)
        self._entries = {path: _read(path, found) for path, found in self._walk()}

    def restore(self) -> bool:
        """Make everything as it was; whether that worked."""
        try:
            self._clear()
            for path, entry in self._entries.items():
                if not os.path.lexists(path):
                    self._entries[path] = _written(path, entry)
        except (OSError, RecursionError):
            return False
        return all(os.path.lexists(path) for path in self._entries)

    def _clear(self) -> None:
        """Remove what was not there or is not the same."""
        for path, found in self._walk():
            entry = self._entries.get(path)
            if entry is None or stat.S_IFMT(entry.mode) != stat.S_IFMT(found.st_mode):
                _remove(path, found)
            elif stat.S_ISDIR(found.st_mode):
                if entry.mode != found.st_mode:
                    os.chmod(path, entry.mode & KEPT_BITS)
            elif entry.stamp != _stamp(found):
                os.unlink(path)

    def _walk(self) -> Iterator[tuple[str, os.stat_result]]:
        """Everything in the folders, each folder before what is in it. Folders are made accessible first."""
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
    """Make it anew, and say what it is now; sockets and the like are of no use to anybody any more."""
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


def _remove(path: str, found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        shutil.rmtree(path)
    else:
        os.unlink(path)
