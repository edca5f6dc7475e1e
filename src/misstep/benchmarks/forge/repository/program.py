"""The git program, kept away from what users have set up for themselves.

Which names git takes for refs, and which paths for files.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from misstep.errors import UsageError

HEADS = "refs/heads/"
KEPT = "refs/pull/"  # nobody may make refs there
DEEPEST = 200  # parts of a path
LONGEST = 255  # bytes of a part of a path, as file systems have it
# Characters that file systems of Apple pass over in names.
_UNSEEN = dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|\.$|/$|^/|^\.")


def is_ref(name: str) -> bool:
    """Whether it is a whole name such as refs/heads/main that git would take."""
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
    """Whether a branch of that name would be taken for an option, or for what is checked out."""
    return ref in (f"{HEADS}HEAD", f"{HEADS}@") or ref.startswith(f"{HEADS}-")


def is_path(path: str) -> bool:
    """Whether a file may stand there: relative, not too deep, no empty parts, dots, or git's own folder."""
    parts = path.split("/")
    return (
        "\0" not in path
        and len(parts) <= DEEPEST
        and _is_text(path)
        and all([part not in ("", ".", "..") and not _is_gits_own(part) for part in parts])
        and all([len(part.encode()) <= LONGEST for part in parts])
    )


def _is_gits_own(part: str) -> bool:
    """Whether some file system would take it for git's own folder, by the rules of git's own guards."""
    on_ntfs = [piece.partition(":")[0].rstrip(" .").lower() for piece in part.split("\\")]
    on_hfs = part.translate(_UNSEEN).lower()
    return on_hfs == ".git" or any(piece in (".git", "git~1") for piece in on_ntfs)


def _is_text(name: str) -> bool:
    """Whether it can be written as UTF-8."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


PATIENCE = 60.0  # seconds for one command
SETTINGS = (
    ("gc.auto", "0"),  # nothing goes on in the background
    ("receive.fsckObjects", "true"),  # what is pushed can be read afterwards
    ("receive.hideRefs", KEPT.rstrip("/")),
)
SAID = 300  # characters of what git says that are passed on


class GitTrouble(UsageError):
    """The repository is not in a state to work with."""


def find_git() -> str:
    """Where the program is; a `UsageError` where it isn't."""
    path = shutil.which("git")
    if path is None:
        raise UsageError(
            "the git program is not installed",
            "the forge keeps its branches in a git repository: install git, or put it on the PATH",
        )
    return path


def environment() -> dict[str, str]:
    """What git is to see: nothing of the user's own configuration, no prompts, no other repository."""
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
    """Our own configuration, as git reads it from its environment."""
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
        """What it prints; `GitTrouble` with git's own words where it fails."""
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
        """Git's own words as an error that says what to do."""
        words = " ".join(said.decode("utf-8", "replace").split())[:SAID] or "git says nothing"
        hint = "a process that ended early may have left a lock: remove it" if ".lock'" in words else ""
        return GitTrouble(
            f"the forge's repository is in a state that git can't work with: {words}",
            hint or "start a forge without a folder of its own, or with an empty one",
            where=str(self.folder),
        )
