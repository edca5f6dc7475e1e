"""Sees which files calls create, change and remove."""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from misstep.core.outcome import storable
from misstep.core.tool import AT_HOME, FileChange
from misstep.tool_host.sandbox.places import is_in

MOST_FILES = 2_000
LARGEST, MOST_READ = 1 << 20, 32 << 20  # bytes of a file, and of all; beyond, only size and time are compared
MOST_CHANGES = 20
# What programs keep for themselves, and what the time of day changes.
_OWN = re.compile(
    r"(^|/)(__pycache__|node_modules|\.cache|logs?|\.git/(index|[A-Z_]*HEAD|logs|gc\.log|COMMIT_EDITMSG))(/|$)"
    r"|\.(pyc|log|lock|tmp~|pid|swp)$|-(journal|wal|shm)$"
)
# Files that programs create in the home folder on their own: caches, histories, settings of package tools,
# ids.
_OWN_AT_HOME = re.compile(
    r"^~/(\.(npm(rc)?|yarn\w*|pnpm[\w-]*|bun|deno|cargo|rustup|gem|m2|gradle|nuget|dotnet|ipython|matplotlib|nv"
    r"|pki|dbus|\w+_history)|go/pkg|\.local/(state|bin|lib|share/(uv|pip|pnpm|pipx|virtualenvs?|fnm))"
    r"|\.config/(configstore|pip|uv|npm|yarn|pnpm|matplotlib))(/|$)"
    r"|telemetry|analytics|(machine|install|installation|anonymous|device|client)[-_]?id\b",
    re.IGNORECASE,
)
_GIT = re.compile(r"(^|/)\.git/")  # what git changes here, such as a branch, it can still find
_TIMES = re.compile(rb"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?Z?|\d\d:\d\d(:\d\d)?|\d{10,}(\.\d+)?")
_SIZE = 1  # index in stamps
_WORD = re.compile(rb"[A-Za-z]{3,}")


class _State(NamedTuple):
    kind: int
    content: bytes
    is_whole: bool = True  # or the content is what stands for a large or unreadable file


class _Entry(NamedTuple):
    stamp: tuple[int, ...]
    state: _State


class FileWatch:
    """Compares files in folders before and after calls; those in `home` get names such as `~/notes.txt`.

    The tools' own folder comes first and the home folder last, since there may be too many files to read all.
    """

    def __init__(self, roots: Sequence[str], home: str = "") -> None:
        self._home = os.path.realpath(home) if home else ""
        self._roots = [os.path.realpath(root) for root in (*roots, *([home] if home else ()))]
        self._entries = dict[str, _Entry]()
        self._unlisted = list[str]()  # folders of which only a part was listed
        self.changes()

    def changes(self) -> tuple[FileChange, ...]:
        """What has changed since the last time.

        In folders with too many files to list all, nothing is reported as created or removed.
        """
        before, unlisted = self._entries, self._unlisted
        self._entries, self._unlisted = self._read()
        unlisted += self._unlisted
        both = before.keys() & self._entries.keys()
        known = (path for path in {*before, *self._entries} if path in both or not is_in(path, unlisted))
        paths = sorted(known, key=lambda path: (self._is_at_home(path), path))
        found = [change for path in paths if (change := self._change(path, before.get(path)))]
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
        is_same_size = before.state.kind == now.state.kind and before.stamp[_SIZE] == now.stamp[_SIZE]
        if is_same_size and before.state.is_whole != now.state.is_whole:
            return None  # perhaps it was only read before, but not now
        return FileChange(name, "changed", _has_lost(before.state, now.state) and not _GIT.search(name))

    def _is_at_home(self, path: str) -> bool:
        return bool(self._home) and path.startswith(os.path.join(self._home, ""))

    def _named(self, path: str) -> str:
        """The path relative to the tools' home, or to their folder, if it is in that or beside it."""
        if self._is_at_home(path):
            return AT_HOME + os.path.relpath(path, self._home)
        is_near = path.startswith(os.path.join(os.path.dirname(self._roots[0]), ""))
        return os.path.relpath(path, self._roots[0]) if is_near else path

    def _read(self) -> tuple[dict[str, _Entry], list[str]]:
        """The files, and the folders of which not all could be listed, because there are too many."""
        found, unlisted, room = dict[str, _Entry](), list[str](), MOST_READ
        for root in self._roots:
            for path, status in self._walk(root):
                if len(found) >= MOST_FILES:
                    unlisted.append(root)
                    break
                stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
                entry = self._entries.get(path)
                if entry is None or entry.stamp != stamp:
                    entry = _Entry(stamp, _state(path, status, min(LARGEST, room)))
                found[path] = entry
                room -= len(entry.state.content)
        return found, unlisted

    def _walk(self, root: str) -> Iterator[tuple[str, os.stat_result]]:
        waiting = [root]
        while waiting:
            folder = waiting.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                if _is_own(name := self._named(entry.path)):
                    continue
                is_folder = entry.is_dir(follow_symlinks=False)
                waiting += [entry.path] if is_folder else []
                if is_folder and name.startswith(AT_HOME):
                    continue  # programs make those of their own and leave them empty
                with suppress(OSError):
                    yield entry.path, entry.stat(follow_symlinks=False)


def _is_own(name: str) -> bool:
    return bool(_OWN.search(name) or (name.startswith(AT_HOME) and _OWN_AT_HOME.search(name)))


def _state(path: str, status: os.stat_result, largest: int) -> _State:
    kind = stat.S_IFMT(status.st_mode)
    try:
        if stat.S_ISREG(status.st_mode):
            if status.st_size > largest:
                return _State(kind, f"{status.st_size} {status.st_mtime_ns}".encode(), is_whole=False)
            with open(path, "rb") as file:
                return _State(kind, file.read())
        if stat.S_ISLNK(status.st_mode):
            return _State(kind, os.fsencode(os.readlink(path)))
    except OSError:
        return _State(kind, b"?", is_whole=False)
    return _State(kind, b"")


def _timeless(state: _State) -> _State:
    return state._replace(content=_TIMES.sub(b"", state.content))


def _has_lost(before: _State, now: _State) -> bool:
    """Whether words are gone. False for binary or unread files."""
    if before.kind != now.kind:
        return True
    if not (before.is_whole and now.is_whole) or b"\0" in before.content or b"\0" in now.content:
        return False
    return bool(Counter(_WORD.findall(before.content)) - Counter(_WORD.findall(now.content)))
