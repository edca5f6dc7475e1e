"""Sees which files calls create, change and remove."""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from misstep.core.outcome import storable
from misstep.core.tool import FileChange

MOST_FILES = 2_000
LARGEST = 1 << 20  # bytes; of larger files only size and time are compared
MOST_CHANGES = 20
# What programs keep for themselves, and what the time of day changes.
_OWN = re.compile(
    r"(^|/)(__pycache__|node_modules|\.cache|logs?|\.git/(index|[A-Z_]*HEAD|logs|gc\.log|COMMIT_EDITMSG))(/|$)"
    r"|\.(pyc|log|lock|tmp~|pid|swp)$|-(journal|wal|shm)$"
)
_TIMES = re.compile(rb"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?Z?|\d\d:\d\d(:\d\d)?|\d{10,}(\.\d+)?")
_WORD = re.compile(rb"[A-Za-z]{3,}")

_State = tuple[int, bytes]


class _Entry(NamedTuple):
    stamp: tuple[int, ...]
    state: _State  # type and content; for large files, what stands for it


class FileWatch:
    """Compares the files in folders before and after calls."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = [os.path.realpath(root) for root in roots]
        self._entries = dict[str, _Entry]()
        self.changes()

    def changes(self) -> tuple[FileChange, ...]:
        """What has changed since the last time."""
        before, self._entries = self._entries, self._read()
        names = sorted({*before, *self._entries})
        found = [change for name in names if (change := self._change(name, before.get(name)))]
        return tuple(found[:MOST_CHANGES])

    def _change(self, path: str, before: _Entry | None) -> FileChange | None:
        now = self._entries.get(path)
        name = storable(self._named(path))
        if before is None:
            return FileChange(name, "created")
        if now is None:
            return FileChange(name, "removed", True)
        if before.state == now.state or _timeless(before.state) == _timeless(now.state):
            return None
        return FileChange(name, "changed", _has_lost(before.state, now.state))

    def _named(self, path: str) -> str:
        """The path relative to the tools' folder, if it is in that or beside it."""
        is_near = path.startswith(os.path.join(os.path.dirname(self._roots[0]), ""))
        return os.path.relpath(path, self._roots[0]) if is_near else path

    def _read(self) -> dict[str, _Entry]:
        found = dict[str, _Entry]()
        for path, status in self._walk():
            if len(found) >= MOST_FILES:
                break
            stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            known = self._entries.get(path)
            found[path] = known if known and known.stamp == stamp else _Entry(stamp, _state(path, status))
        return found

    def _walk(self) -> Iterator[tuple[str, os.stat_result]]:
        waiting = list(self._roots)
        while waiting:
            folder = waiting.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                if _OWN.search(self._named(entry.path)):
                    continue
                try:
                    yield entry.path, entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _state(path: str, status: os.stat_result) -> _State:
    kind = stat.S_IFMT(status.st_mode)
    try:
        if stat.S_ISREG(status.st_mode):
            if status.st_size > LARGEST:
                return kind, f"{status.st_size} {status.st_mtime_ns}".encode()
            with open(path, "rb") as file:
                return kind, file.read()
        if stat.S_ISLNK(status.st_mode):
            return kind, os.fsencode(os.readlink(path))
    except OSError:
        return kind, b"?"
    return kind, b""


def _timeless(state: _State) -> _State:
    return state[0], _TIMES.sub(b"", state[1])


def _has_lost(before: _State, now: _State) -> bool:
    """Whether words are gone; of what is no text, nobody can tell."""
    if before[0] != now[0]:
        return True
    if b"\0" in before[1] or b"\0" in now[1]:
        return False
    return bool(Counter(_WORD.findall(before[1])) - Counter(_WORD.findall(now[1])))
