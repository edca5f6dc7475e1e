"""Runs the git program without the user's configuration, and checks ref names and paths."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

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
    """Whether it can be encoded as UTF-8."""
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
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
        **_settings(),
    }


def _settings() -> dict[str, str]:
    """Our own configuration as environment variables for git."""
    found = {"GIT_CONFIG_COUNT": str(len(SETTINGS))}
    for place, (key, value) in enumerate(SETTINGS):
        found |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": value}
    return found


class Git:
    """Runs git on one bare repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._program = find_git()

    def command(self, *arguments: str) -> list[str]:
        return [self._program, f"--git-dir={self.folder}", *arguments]

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
            return subprocess.run(
                self.command(*arguments),
                input=stdin,
                capture_output=True,
                env=environment() | dict(extra or {}),
                timeout=PATIENCE,
                check=False,
            )
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
