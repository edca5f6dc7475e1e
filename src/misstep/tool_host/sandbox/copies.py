"""Chooses the folders of an MCP server that are copied into its sandbox, so that it can write to them.

Some servers keep their data beside their code, or in a folder that their command names.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from misstep.adapters.toolset.spec import servers_to_start
from misstep.tool_host.sandbox.bubblewrap import FolderCopy
from misstep.tool_host.sandbox.places import SCRIPTS, is_common, is_in, is_vendored

MOST_COPIED = 300  # files; each is an open file until the sandbox has started
MOST_BYTES = 16 << 20


def copies_for(spec: str, hidden: Iterable[str]) -> list[FolderCopy]:
    """The folders that a server may write to: its own, and those in its command; only small ones."""
    folders = [
        folder
        for server in servers_to_start(spec) or ()
        for word in (server.folder, *server.command)
        for folder in _folders_meant(word.partition("=")[2] or word if word.startswith("-") else word)
    ]
    copies, left = list[FolderCopy](), MOST_COPIED
    for folder in dict.fromkeys(folders):
        copy = _small_copy(folder, {*hidden})
        if copy and len(copy.files) <= left:
            copies.append(copy)
            left -= len(copy.files)
    return copies


def _folders_meant(word: str) -> list[str]:
    """A folder, or that of a script, for Node that of its package."""
    if not os.path.isabs(word) or not os.path.exists(word):
        return []
    path = os.path.realpath(word)
    if path.endswith(SCRIPTS):
        packages = (str(each) for each in Path(path).parents if (each / "package.json").exists())
        path = next(packages, os.path.dirname(path))
    elif path.endswith(".py"):
        path = os.path.dirname(path)
    return [path] if os.path.isdir(path) and not is_common(path) else []


def _small_copy(folder: str, hidden: set[str]) -> FolderCopy | None:
    """A copy of a folder without what is hidden in it; none if it is large or can't be read."""
    files, folders, links, mounted = list[str](), list[str](), list[str](), list[str]()
    size, waiting = 0, [folder]
    while waiting:
        folders.append(waiting.pop())
        try:
            entries = [each for each in os.scandir(folders[-1]) if each.path not in hidden]
            size += sum(each.stat(follow_symlinks=False).st_size for each in entries)
        except OSError:
            return None
        for entry in entries:
            if entry.is_symlink():
                links.append(entry.path)
            elif entry.is_file():
                files.append(entry.path)
            elif entry.is_dir() and not (entry.name.startswith(".") or is_vendored(entry.path)):
                waiting.append(entry.path)
            elif entry.is_dir() and not any(is_in(each, [entry.path]) for each in hidden):
                mounted.append(entry.path)
        if len(files) > MOST_COPIED or size > MOST_BYTES:
            return None
    return FolderCopy(folder, tuple(folders[1:]), tuple(files), tuple(links), tuple(mounted))
