"""Reads git objects through one long-running process, because starting one per object is slow."""

import contextlib
import subprocess
import threading
from collections.abc import Iterator

import msgspec

from misstep.benchmarks.forge.repository.program import Git, environment

FOLDER = "40000"
FILE = "100644"
PROGRAM = "100755"
LINK = "120000"
OTHER_REPOSITORY = "160000"


class TreeEntry(msgspec.Struct, frozen=True):
    """A directory entry; `mode` as git writes it."""

    mode: str
    sha: str

    @property
    def kind(self) -> str:
        return {FOLDER: "tree", OTHER_REPOSITORY: "commit"}.get(self.mode, "blob")


class Signature(msgspec.Struct, frozen=True):
    """Author or committer, and the time in seconds since 1970."""

    name: str
    email: str
    when: int


class Commit(msgspec.Struct, frozen=True):
    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str


class Object(msgspec.Struct, frozen=True):
    """A git object, by its sha."""

    sha: str
    kind: str
    data: bytes


class Objects:
    """The objects of a repository by name: a sha, a ref, or a revision expression."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def find(self, name: str) -> Object | None:
        """The object with this name, or None."""
        if not name or any(letter in name for letter in "\n\0"):
            return None
        with self._lock:
            return self._ask(name.encode("utf-8", "replace"))

    def read(self, sha: str) -> Object:
        """An object that has to exist."""
        found = self.find(sha)
        if found is None:
            raise self._git.trouble(f"object {sha} is missing".encode())
        return found

    def folder(self, sha: str) -> dict[str, TreeEntry]:
        """The entries of a tree by name."""
        return dict(_entries(self.read(sha).data))

    def commit(self, sha: str) -> Commit:
        return _commit(self.read(sha))

    def close(self) -> None:
        with self._lock:
            self._closed = True
            process, self._process = self._process, None
            if process is not None:
                _end(process)

    def _ask(self, name: bytes) -> Object | None:
        if self._closed:
            raise self._git.trouble(b"it has been closed")
        process = self._process = self._process or self._start()
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write(name + b"\n")
            process.stdin.flush()
            head = process.stdout.readline().rsplit(maxsplit=2)
            if len(head) == 3 and head[2].isdigit():
                data = process.stdout.read(int(head[2]) + 1)[:-1]
                return Object(head[0].decode(), head[1].decode(), data)
            if head:  # missing or ambiguous
                return None
        except BrokenPipeError:
            pass
        self._process = None
        raise self._git.trouble(_end(process))

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            self._git.command("cat-file", "--batch"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )


def _end(process: "subprocess.Popen[bytes]") -> bytes:
    """Its error output."""
    with contextlib.suppress(BrokenPipeError):
        return process.communicate()[1]
    return b""


def _entries(data: bytes) -> Iterator[tuple[str, TreeEntry]]:
    start = 0
    while start < len(data):
        end = data.index(b"\0", start)
        mode, _, name = data[start:end].partition(b" ")
        start = end + 21
        yield name.decode("utf-8", "surrogateescape"), TreeEntry(mode.decode(), data[end + 1 : start].hex())


def _commit(read: Object) -> Commit:
    head, _, message = read.data.decode("utf-8", "replace").partition("\n\n")
    fields = [line.partition(" ")[::2] for line in head.split("\n")]
    named = dict(reversed(fields))
    return Commit(
        read.sha,
        named["tree"],
        tuple(value for key, value in fields if key == "parent"),
        _signature(named["author"]),
        _signature(named["committer"]),
        message,
    )


def _signature(text: str) -> Signature:
    name, _, rest = text.partition(" <")
    email, _, when = rest.rpartition("> ")
    return Signature(name, email, int(when.split()[0]))
