"""Modules of the user's own code, read and never run."""

import ast
import copy
import importlib.machinery
import os
import sys
import sysconfig
from collections.abc import Iterator, Sequence

from misstep.core.ours import is_ours
from misstep.core.syntax import parse_expression, parse_module

SITES = ("site-packages", "dist-packages")
LARGEST = 2_000_000  # bytes of a file
_LIBRARIES = tuple(
    os.path.realpath(sysconfig.get_paths()[name]) + os.sep for name in ("stdlib", "platstdlib")
)


class Module:
    """The text of a file as a tree, and what its names were imported as."""

    def __init__(self, file: str, tree: ast.Module) -> None:
        self.file = file
        self.tree = tree
        self.imports = list(_imports(tree))
        self._origins = {alias: origin for alias, origin in map(_origin, self.imports) if alias}

    def restored(self, node: ast.AST) -> ast.AST:
        """A copy of a piece of the code with all names as they are at home."""
        restored: ast.AST = _Restoring(self._origins).visit(copy.deepcopy(node))
        return restored


def read_module(file: str) -> Module | None:
    """The module in a file; None if there is none that we could read."""
    try:
        if os.path.getsize(file) > LARGEST:
            return None
        with open(file, "rb") as text:
            tree = parse_module(text.read())
        return Module(file, tree) if tree is not None else None
    except (OSError, RecursionError, MemoryError):
        return None


def own_imports(module: Module) -> Iterator[str]:
    """The files of all modules that it imports, as far as they are of the same making."""
    for source, name, _, level in module.imports:
        base = _climbed(module.file, level) if level else ""
        parts = [part for part in source.split(".") if part]
        yield from _files([*parts, name] if name else parts, [base] if base else _bases(module.file), module)


def _files(parts: Sequence[str], folders: Sequence[str], module: Module) -> Iterator[str]:
    """The files that are run one after the other for a dotted name, until one is somebody else's."""
    for place, part in enumerate(parts):
        found = importlib.machinery.PathFinder.find_spec(part, list(folders))
        if found is None:
            return
        file = found.origin if found.has_location else None
        if file and not _is_akin(os.path.realpath(file), module.file):
            return
        if file:
            yield os.path.realpath(file)
        folders = list(found.submodule_search_locations or ())
        if not folders and place + 1 < len(parts):
            return


def _is_akin(file: str, other: str) -> bool:
    """Whether a file is nobody's library, or of the same library."""
    return not is_ours(file) and _library(file) in ("", _library(other))


def _library(file: str) -> str:
    """The installed package that a file belongs to; empty if it is not installed."""
    parts = file.split(os.sep)
    for place in range(len(parts) - 2, -1, -1):
        if parts[place] in SITES:
            return os.sep.join(parts[: place + 2])
    return "the standard library" if file.startswith(_LIBRARIES) else ""


def _bases(file: str) -> list[str]:
    """Where a module's imports are looked for: beside it, beside the packages around it, and as we do."""
    folder, bases = os.path.dirname(file), [os.path.dirname(file)]
    while os.path.dirname(folder) != folder and len(bases) < 20:
        folder = os.path.dirname(folder)
        bases.append(folder)
        if not os.path.exists(os.path.join(bases[-2], "__init__.py")):
            break
    return [*bases, os.getcwd(), *sys.path]


def _climbed(file: str, level: int) -> str:
    for _ in range(level):
        file = os.path.dirname(file)
    return file


def _imports(tree: ast.Module) -> Iterator[tuple[str, str, str, int]]:
    """Module, name in it, name here and level of each import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((each.name, "", each.asname or "", 0) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                yield node.module or "", each.name, each.asname or each.name, node.level


def _origin(imported: tuple[str, str, str, int]) -> tuple[str, str]:
    source, name, alias, _ = imported
    return "" if name == "*" else alias, ".".join(filter(None, (source, name)))


class _Restoring(ast.NodeTransformer):
    """Puts names in the place of those that they were given when they were imported."""

    def __init__(self, origins: dict[str, str]) -> None:
        self._origins = origins

    def visit_Name(self, node: ast.Name) -> ast.AST:
        origin = self._origins.get(node.id, node.id)
        return ast.copy_location(parse_expression(origin) or node, node)
