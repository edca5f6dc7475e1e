"""Writes a folder tree to where it is to be, and nowhere else."""

import os
from pathlib import Path

from misstep.benchmarks.tree.content import Content, File, Folder, Link, Other, Tree, complete, parents, shown
from misstep.errors import UsageError

LONGEST_NAME = 255  # in bytes, on every file system in use


def lay(tree: Tree, root: Path) -> None:
    """Write a tree into a folder that is there and empty.

    Everything is looked at first: a tree that would reach outside the folder is refused, and nothing written.
    """
    for path in tree:
        require_plain(path)
    whole = complete(tree)
    for path in whole:
        _require_folders(path, whole)
    _require_empty(root)
    try:
        for path, content in whole.items():
            _write(root / path, content)
    except OSError as error:
        raise UsageError(f"can't write the files of a task: {error.strerror}", where=str(root)) from error


def require_plain(path: str) -> None:
    """Refuse a path that is not plainly one below the folder it is meant for."""
    parts = path.split("/")
    if path.startswith("/"):
        raise _refused(path, "it is absolute")
    if ".." in parts:
        raise _refused(path, "it leads out of its folder")
    if "" in parts or "." in parts:
        raise _refused(path, "it has an empty part")
    if "\0" in path:
        raise _refused(path, "it holds a NUL character")
    try:
        longest = max([len(part.encode()) for part in parts])
    except UnicodeEncodeError as error:
        raise _refused(path, "it can't be written as UTF-8") from error
    if longest > LONGEST_NAME:
        raise _refused(path, f"it has a name of more than {LONGEST_NAME} bytes")


def _require_folders(path: str, tree: Tree) -> None:
    for parent in parents(path):
        if not isinstance(tree[parent], Folder):
            raise _refused(path, f"it leads through '{shown(parent)}', which is no folder")
    if isinstance(content := tree[path], Other):
        raise _refused(path, f"it is {content.what}, which can't be made")


def _require_empty(root: Path) -> None:
    try:
        names = os.listdir(root)
    except OSError as error:
        raise UsageError(f"no folder for the files of a task: {error.strerror}", where=str(root)) from error
    if names:
        raise UsageError("the folder for the files of a task is not empty", where=str(root))


def _write(place: Path, content: Content) -> None:
    match content:
        case Link(target):
            place.symlink_to(target)
        case File(data):
            with place.open("xb") as file:
                file.write(data)
        case _:
            place.mkdir()


def _refused(path: str, why: str) -> UsageError:
    expected = "expected a path like reports/2023/notes.txt, relative to the task's folder"
    return UsageError(f"the path '{shown(path)}' can't be used: {why}", expected)
