"""Where in source something is, so that a report can point at it."""

import ast
import os
from functools import lru_cache

from misstep.core.finding import Finding
from misstep.core.statement import Spot

LARGEST = 2 << 20  # bytes of a file that is read


def spot_of_finding(finding: Finding) -> Spot | None:
    """The innermost place of the tool's own code on the way to the error; else where the tool is defined."""
    own = [frame for frame in finding.frames if frame.own and os.path.isfile(frame.file)]
    line = _line_in(finding.where)
    told = [frame for frame in own if frame.line == line]
    if own:
        place = (told or own)[-1]
        return Spot(os.path.abspath(place.file), max(1, place.line))
    return spot_of_name([finding.spec], finding.tool)


def spot_of_name(specs: list[str], name: str) -> Spot | None:
    """Where something is defined that one of the specs brings, `file.py:name` or `package.module:name`."""
    found = [(path, own) for path, own in map(_file_of, specs) if path]
    for path, _ in found:
        if line := _definitions(path).get(name):
            return Spot(path, line)
    if len(found) != 1:
        return None
    path, own = found[0]
    return Spot(path, _definitions(path).get(own, 1))


def _line_in(where: str) -> int:
    """Of `file.py:12 in f`."""
    number = where.partition(" in ")[0].rpartition(":")[2]
    return int(number) if number.isdecimal() else 0


def _file_of(spec: str) -> tuple[str, str]:
    """The file that a spec names, as an absolute path, and what it wants of it."""
    place, _, name = spec.rpartition(":")
    for path in (place, f"{place.replace('.', os.sep)}.py"):
        if path.endswith(".py") and os.path.isfile(path):
            return os.path.abspath(path), name
    return "", ""


@lru_cache(maxsize=64)
def _definitions(path: str) -> dict[str, int]:
    """The first line of whatever a file defines, by name."""
    try:
        if os.path.getsize(path) > LARGEST:
            return {}
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found = dict[str, int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.setdefault(node.name, node.lineno)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, node.lineno)
    return found
