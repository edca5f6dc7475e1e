"""Looks at a repository that was there before, whether the forge can serve it."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from misstep.benchmarks.forge.repository.program import GitTrouble, environment, find_git

SHOWN = 3  # problems of one sort
# What git leaves behind while somebody has still to finish something.
UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisection",
}
HINT = "give a folder that is empty or not there yet: the forge makes its own repository"


def require_sound(folder: Path, default: str) -> None:
    """`GitTrouble` unless it is a bare repository on that branch, whole and with nothing left half done."""
    for problem in _problems(folder, default):
        raise GitTrouble(problem, HINT, where=str(folder))


def _problems(folder: Path, default: str) -> Iterator[str]:
    if (folder / ".git").exists():
        yield from _work_tree(folder)
        return
    if not (folder / "HEAD").is_file() or not (folder / "objects").is_dir():
        yield "there is something in this folder, but no git repository"
        return
    yield from _unfinished(folder)
    locks = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.lock"))
    if locks:
        yield f"a lock was left in the repository: {', '.join(locks[:SHOWN])}"
    head = (folder / "HEAD").read_text("utf-8", "replace").strip()
    if not head.startswith("ref: "):
        yield f"HEAD is detached, at {head[:40]!r}"
    if head != f"ref: refs/heads/{default}":
        yield f"HEAD is at {head.removeprefix('ref: ')[:100]!r}, not at the branch {default}"
    checked = _git(folder, "fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    if checked.returncode != 0:
        words = checked.stdout + checked.stderr
        yield f"the repository is broken: {'; '.join(words.strip().splitlines()[:SHOWN])}"


def _unfinished(folder: Path) -> Iterator[str]:
    for name, what in UNFINISHED.items():
        if (folder / name).exists():
            yield f"{what} is half done in the repository: {name}"


def _work_tree(folder: Path) -> Iterator[str]:
    yield from _unfinished(folder / ".git")
    changed = _git(folder / ".git", f"--work-tree={folder}", "status", "--porcelain").stdout.splitlines()
    if changed:
        names = ", ".join(line[3:] for line in changed[:SHOWN])
        yield f"the repository has a work tree with changes: {names}"
    yield "the repository has a work tree, a forge serves bare repositories only"


def _git(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [find_git(), f"--git-dir={folder}", *arguments],
        capture_output=True,
        text=True,
        errors="replace",
        env=environment(),
        check=False,
    )
