"""Where in source something is, so that a report can point at it."""

import ast
import os
import shlex
from functools import lru_cache

import msgspec

from misstep.core.finding import Finding
from misstep.core.run_report import SourceLocation
from misstep.report.text import plain
from misstep.store.runs import Run
from misstep.store.trust import is_trusted

LARGEST = 2 << 20  # bytes of a file that is read


class Home(msgspec.Struct, frozen=True):
    """Where entries come from: the run, and what has to be added to a command so that it finds the store."""

    run: Run
    place: str

    def replay(self, part: str) -> str:
        """The command that replays a part of the run."""
        return replay(self.run.id, part, self.place)

    @property
    def show(self) -> str:
        """The command that shows the run."""
        return f"misstep show {self.run.id}{self.place}"

    def spot_of_finding(self, finding: Finding) -> SourceLocation | None:
        """The innermost place of the tool's own code on the way to the error; else where the tool is
        defined."""
        may_read = is_trusted(self.run)
        seen = os.path.isfile if may_read else _is_below
        own = [frame for frame in finding.frames if frame.own and seen(frame.file)]
        line = _line_in(finding.where)
        told = [frame for frame in own if frame.line == line]
        if own:
            place = (told or own)[-1]
            return SourceLocation(os.path.abspath(place.file), max(1, place.line))
        return self.spot_of_name([finding.spec], finding.tool)

    def spot_of_name(self, specs: list[str], name: str) -> SourceLocation | None:
        """Where something is defined that one of the specs brings, `file.py:name` or `package.module:name`.

        Not known for a run from elsewhere, whose files are not read.
        """
        found = [(path, own) for path, own in map(_file_of, specs) if path] if is_trusted(self.run) else []
        for path, _ in found:
            if line := _definitions(path).get(name):
                return SourceLocation(path, line)
        if len(found) != 1:
            return None
        path, own = found[0]
        return SourceLocation(path, _definitions(path).get(own, 1))


def replay(run: str, part: str, place: str) -> str:
    """The command that replays a part of a run."""
    return f"misstep replay {shlex.quote(plain(f'{run}/{part}'))}{place}"


def _is_below(path: str) -> bool:
    """Whether a path leads to somewhere below the current folder; nothing is looked up."""
    return os.path.abspath(path).startswith(os.path.join(os.getcwd(), ""))


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
