"""The git program, kept away from what users have set up for themselves."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from misstep.benchmarks.forge.repository.names import KEPT
from misstep.errors import UsageError

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
