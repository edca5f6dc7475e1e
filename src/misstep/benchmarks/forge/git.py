"""Runs the git program without the user's configuration, reads objects, and checks ref names and paths."""

import contextlib
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from misstep.errors import UsageError

HEADS = "refs/heads/"
KEPT = "refs/pull/"  # clients may not create refs there
DEEPEST = 200  # parts of a path
LONGEST = 255  # bytes of a path component, as file systems limit it
# Characters that Apple's file systems ignore in names.
_UNSEEN = dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|\.$|/$|^/|^\.")


def is_ref(name: str) -> bool:
    """Whether it is a full ref name, such as refs/heads/main, that git accepts."""
    parts = name.split("/")
    return (
        len(parts) >= 3
        and parts[0] == "refs"
        and not _FORBIDDEN.search(name)
        and all([len(part.encode("utf-8", "replace")) <= LONGEST - len(".lock") for part in parts])
        and _is_text(name)
    )


def is_branch(name: str) -> bool:
    return name != "" and not misleads(HEADS + name) and is_ref(HEADS + name)


def misleads(ref: str) -> bool:
    """Whether a branch with this name could be mistaken for an option or for HEAD."""
    return ref in (f"{HEADS}HEAD", f"{HEADS}@") or ref.startswith(f"{HEADS}-")


def is_path(path: str) -> bool:
    """Whether a file may be there: relative, not too deep, no empty parts, dots, or git's own folder."""
    parts = path.split("/")
    return (
        "\0" not in path
        and len(parts) <= DEEPEST
        and _is_text(path)
        and all([part not in ("", ".", "..") and not _is_gits_own(part) for part in parts])
        and all([len(part.encode()) <= LONGEST for part in parts])
    )


def _is_gits_own(part: str) -> bool:
    """Whether some file system would treat it as `.git`, by the same rules as git's own checks."""
    on_ntfs = [piece.partition(":")[0].rstrip(" .").lower() for piece in part.split("\\")]
    on_hfs = part.translate(_UNSEEN).lower()
    return on_hfs == ".git" or any(piece in (".git", "git~1") for piece in on_ntfs)


def _is_text(name: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


PATIENCE = 60.0  # seconds for one command
SETTINGS = (
    ("gc.auto", "0"),  # no background work
    ("receive.fsckObjects", "true"),  # so that pushed objects are readable afterwards
    ("receive.hideRefs", KEPT.rstrip("/")),
)
SAID = 300  # characters of git's output that are passed on


class GitTrouble(UsageError):
    """The repository is in a state that can't be used."""


def find_git() -> str:
    """The path of the git program; `UsageError` if it is not installed."""
    path = shutil.which("git")
    if path is None:
        raise UsageError(
            "the git program is not installed",
            "the forge keeps its branches in a git repository: install git, or put it on the PATH",
        )
    return path


def environment() -> dict[str, str]:
    """Git's environment: none of the user's own configuration, no prompts, no other repository."""
    found = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": str(len(SETTINGS)),
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
    }
    for place, (key, value) in enumerate(SETTINGS):
        found |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": value}
    return found


def call_git(*arguments: str, stdin: bytes, extra: Mapping[str, str]) -> "subprocess.CompletedProcess[bytes]":
    """Run git until it ends, with `extra` in its environment; `TimeoutExpired` if it takes too long."""
    command, env = [find_git(), *arguments], environment() | dict(extra)
    return subprocess.run(command, input=stdin, capture_output=True, env=env, timeout=PATIENCE, check=False)


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
    sha: str
    kind: str
    data: bytes


class Git:
    """Runs git on one bare repository; one process reads all objects, because starting many is slow."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._reader: subprocess.Popen[bytes] | None = None
        self._closed = False

    def run(self, *arguments: str, stdin: bytes = b"", extra: Mapping[str, str] | None = None) -> bytes:
        """Git's output; raises `GitTrouble` with git's message if it fails."""
        done = self.attempt(*arguments, stdin=stdin, extra=extra)
        if done.returncode != 0:
            raise self.trouble(done.stderr)
        return done.stdout

    def attempt(
        self, *arguments: str, stdin: bytes = b"", extra: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[bytes]":
        try:
            return call_git(f"--git-dir={self.folder}", *arguments, stdin=stdin, extra=extra or {})
        except subprocess.TimeoutExpired:
            raise self.trouble(f"no answer to git {arguments[0]} in {PATIENCE:.0f} s".encode()) from None

    def trouble(self, said: bytes) -> GitTrouble:
        """Git's message as an error that says what to do."""
        words = " ".join(said.decode("utf-8", "replace").split())[:SAID] or "git says nothing"
        hint = "a process that ended early may have left a lock: remove it" if ".lock'" in words else ""
        return GitTrouble(
            f"the forge's repository is in a state that git can't work with: {words}",
            hint or "start a forge without a folder of its own, or with an empty one",
            where=str(self.folder),
        )

    def find(self, name: str) -> Object | None:
        """The object with this name, which is a sha, a ref or a revision expression."""
        if not name or any(letter in name for letter in "\n\0"):
            return None
        with self._lock:
            return self._ask(name.encode("utf-8", "replace"))

    def find_sha(self, sha: object, kind: str = "") -> Object | None:
        is_sha = isinstance(sha, str) and re.fullmatch("[0-9a-f]{40}", sha)
        found = self.find(str(sha)) if is_sha else None
        return found if found and kind in ("", found.kind) else None

    def read(self, sha: str) -> Object:
        """An object that has to exist."""
        found = self.find(sha)
        if found is None:
            raise self.trouble(f"object {sha} is missing".encode())
        return found

    def read_folder(self, sha: str) -> dict[str, TreeEntry]:
        return dict(_entries(self.read(sha).data))

    def read_commit(self, sha: str) -> Commit:
        found = self.read(sha)
        head, _, message = found.data.decode("utf-8", "replace").partition("\n\n")
        fields = [line.partition(" ")[::2] for line in head.split("\n")]
        named = dict(reversed(fields))
        parents = tuple(value for key, value in fields if key == "parent")
        author, committer = (_signature(named[role]) for role in ("author", "committer"))
        return Commit(found.sha, named["tree"], parents, author, committer, message)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            reader, self._reader = self._reader, None
            if reader is not None:
                _end(reader)

    def _ask(self, name: bytes) -> Object | None:
        if self._closed:
            raise self.trouble(b"it has been closed")
        reader = self._reader = self._reader or self._start_reader()
        assert reader.stdin
        assert reader.stdout
        try:
            reader.stdin.write(name + b"\n")
            reader.stdin.flush()
            head = reader.stdout.readline().rsplit(maxsplit=2)
            if len(head) == 3 and head[2].isdigit():
                data = reader.stdout.read(int(head[2]) + 1)[:-1]
                return Object(head[0].decode(), head[1].decode(), data)
            if head:  # missing or ambiguous
                return None
        except BrokenPipeError:
            pass
        self._reader = None
        raise self.trouble(_end(reader))

    def _start_reader(self) -> "subprocess.Popen[bytes]":
        pipe = subprocess.PIPE
        command = [find_git(), f"--git-dir={self.folder}", "cat-file", "--batch"]
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment())


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


def _signature(text: str) -> Signature:
    name, _, rest = text.partition(" <")
    email, _, when = rest.rpartition("> ")
    return Signature(name, email, int(when.split()[0]))
