"""Tells a tool's own code from the libraries that it uses."""

import os
import sysconfig
from collections.abc import Iterable
from pathlib import PurePath

_SITES = ("site-packages", "dist-packages")
_LIBRARY = PurePath(os.path.realpath(sysconfig.get_paths()["stdlib"]))
_MISSTEP = PurePath(os.path.realpath(__file__)).parents[2]


class Ownership:
    """Whose code a file is, for the tools that come out of `files`.

    An installed tool owns the whole of its top-level package; any other one owns what lies in the directory
    of its file or below, apart from installed packages, the standard library and misstep.
    """

    def __init__(self, files: Iterable[str]) -> None:
        roots = (_root(_resolved(file)) for file in files if file)
        self._roots = frozenset(root for root in roots if root is not None)
        self._known = dict[str, bool]()

    def owns(self, filename: str) -> bool:
        known = self._known.get(filename)
        if known is None:
            known = self._known[filename] = self._look(filename)
        return known

    def _look(self, filename: str) -> bool:
        if not filename or filename.startswith("<"):
            return False  # what the interpreter makes up, such as <string>
        path = _resolved(filename)
        if _is_within(path, _MISSTEP):
            return False
        installed = _installed(path)
        if installed is not None:
            return installed in self._roots
        return any(_is_within(path, root) for root in self._roots)


def _root(path: PurePath) -> PurePath | None:
    """What all of a tool's own files are under, or the only one."""
    if _is_within(path, _MISSTEP):
        return None
    return _installed(path) or path.parent


def _installed(path: PurePath) -> PurePath | None:
    """The top-level package or module that the file belongs to, if it is an installed one."""
    parts = path.parts
    for index in range(len(parts) - 2, -1, -1):
        if parts[index] in _SITES:
            return PurePath(*parts[: index + 2])
    if _is_within(path, _LIBRARY):
        return PurePath(*parts[: len(_LIBRARY.parts) + 1])
    return None


def _is_within(path: PurePath, root: PurePath) -> bool:
    return path.parts[: len(root.parts)] == root.parts


def _resolved(file: str) -> PurePath:
    try:
        return PurePath(os.path.realpath(file))
    except (OSError, ValueError):  # a name with a NUL in it
        return PurePath("/", file.replace("\0", ""))
