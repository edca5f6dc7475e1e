"""Finds agents, MCP servers and tools in a project by reading its files; nothing is imported or started."""

import json
import os
import re
import shlex
from collections import deque
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias

import msgspec

from misstep.adapters.loading.candidates import LARGEST, FileCandidate, candidates_in
from misstep.adapters.toolset.collecting import SERVERS
from misstep.errors import UsageError

MOST_FILES = 1_000  # Python files that are read
MOST_ENTRIES = 50_000  # files and folders that are looked at
SKIPPED = ("__pycache__", "node_modules", "site-packages", "venv", "env", "build", "dist", "tests", "test")
OWN = "misstep"  # a package of this name is misstep itself: a user's could not be imported beside it
SKIPPED_FILES = re.compile(r"test_.*|.*_test|conftest|setup|noxfile|fabfile")
CONFIGURATIONS = ("mcp.json", ".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json")
MCP_SDK = "@modelcontextprotocol/sdk"
_STARTS = re.compile(rb"\.run\w*\(")  # `server.run()`, `server.run_stdio_async()`, `asyncio.run(main())`

ItemKind: TypeAlias = Literal["agent", "server", "tool"]


class ProjectItem(msgspec.Struct, frozen=True):
    """Something that misstep can test: its spec for the command line, and where it is defined.

    `extra` is what misstep needs for it. `problem` says why it can't be tested as it is.
    """

    kind: ItemKind
    spec: str
    place: str
    what: str
    name: str = ""
    extra: str = ""
    problem: str = ""

    @property
    def file(self) -> str:
        return self.place.rpartition(":")[0] or self.place

    @property
    def is_guess(self) -> bool:
        """Whether it is a function like any other, in a file that is not named after tools."""
        return self.kind == "tool" and self.what == "function" and "tool" not in PurePosixPath(self.file).stem


class ProjectScan(msgspec.Struct, frozen=True):
    """All that was found, the likeliest first.

    `guesses` is the number of functions that were left out: they could be tools, but so could any other.
    `unread` are files that could not be read, and why.
    """

    items: tuple[ProjectItem, ...]
    guesses: int
    unread: tuple[str, ...]
    files: int
    is_complete: bool

    def of(self, kind: ItemKind) -> list[ProjectItem]:
        return [item for item in self.items if item.kind == kind]


def scan(folder: Path) -> ProjectScan:
    items, unread, number, complete = list[ProjectItem](), list[str](), 0, True
    for path in _python_files(folder):
        if path is None or number == MOST_FILES:
            complete = False
            break
        number += 1
        relative = path.relative_to(folder)
        try:
            items += _items_in(folder, relative)
        except UsageError as error:
            unread.append(f"{error.where.replace(str(path), str(relative))}  {error.message}")
    items += _configured(folder, unread)
    items += _node_server(folder)
    ranked = sorted(enumerate(items), key=lambda each: (*_rank(each[1]), each[0]))
    found = [item for _, item in ranked]
    # Functions beside an agent are likely to be its tools.
    agents = {item.file for item in found if item.kind == "agent"}
    kept = [item for item in found if not item.is_guess or item.file in agents] or found
    return ProjectScan(tuple(kept), len(found) - len(kept), tuple(unread), number, complete)


def _python_files(folder: Path) -> Iterator[Path | None]:
    """Python files that are not tests, those near the top first; None if there were too many entries."""
    waiting, seen = deque([folder]), 0
    while waiting:
        place = waiting.popleft()
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError:
            continue  # unreadable, or gone
        seen += len(entries)
        if seen > MOST_ENTRIES:
            yield None
            return
        names = {entry.name for entry in entries}
        if "pyvenv.cfg" in names and place != folder:
            continue
        for entry in entries:
            if entry.name.startswith(".") or not entry.name.isprintable():
                continue
            if entry.is_dir(follow_symlinks=False):
                ours = entry.name == OWN and "__init__.py" not in names
                if ours and os.path.isfile(os.path.join(entry.path, "__init__.py")):
                    continue
                if entry.name not in SKIPPED:
                    waiting.append(Path(entry.path))
            elif entry.name.endswith(".py") and not SKIPPED_FILES.fullmatch(entry.name[:-3]):
                yield Path(entry.path)


def _items_in(folder: Path, relative: Path) -> Iterator[ProjectItem]:
    for candidate in candidates_in(folder / relative):
        place = f"{relative.as_posix()}:{candidate.line}"
        if candidate.kind == "server":
            yield _python_server(folder, relative, candidate)
            continue
        problem = "is tied to its tools" if candidate.tied else ""
        extra = candidate.framework.replace("_", "-") if candidate.kind == "agent" else "fuzz"
        spec = f"{_importable(folder, relative)}:{candidate.name}"
        yield ProjectItem(candidate.kind, spec, place, candidate.what, candidate.name, extra, problem)


def _importable(folder: Path, relative: Path) -> str:
    """How the file is loaded: by its path, or as a module if it is part of a package."""
    top = relative.parent
    while (folder / top / "__init__.py").exists() and top.parts:
        top = top.parent
    inside = relative.relative_to(top).with_suffix("")
    is_package = len(inside.parts) > 1 and all(part.isidentifier() for part in inside.parts)
    if is_package and (not top.parts or find_spec(inside.parts[0]) is not None):
        return ".".join(inside.parts)
    return relative.as_posix()


def _python_server(folder: Path, relative: Path, candidate: FileCandidate) -> ProjectItem:
    code = (folder / relative).read_bytes()
    problem = "" if _STARTS.search(code) else "is not started by its file"
    path = relative.as_posix()
    spec, place = f"mcp:python {shlex.quote(path)}", f"{path}:{candidate.line}"
    return ProjectItem("server", spec, place, candidate.what, candidate.name, "mcp", problem)


def _configured(folder: Path, unread: list[str]) -> Iterator[ProjectItem]:
    """Files that list the MCP servers of an editor or a client."""
    for name in CONFIGURATIONS:
        value = _read_json(folder / name, unread, name)
        key = next((key for key in SERVERS if isinstance(value.get(key), Mapping)), "")
        entries = (value.get(key) or {}).items()
        servers = {server: each for server, each in entries if isinstance(each, Mapping)}
        if servers:
            local = [server for server, each in servers.items() if each.get("command")]
            problem = "" if local else "lists remote servers only"
            what = f"MCP servers {', '.join(servers)}"
            yield ProjectItem("server", name, name, what, extra="mcp", problem=problem)


def _node_server(folder: Path) -> Iterator[ProjectItem]:
    """A package for Node that uses the MCP SDK, and how it is started as far as it says."""
    value = _read_json(folder / "package.json", [], "package.json")
    needs, program, scripts = value.get("dependencies"), value.get("bin"), value.get("scripts")
    if not isinstance(needs, Mapping) or MCP_SDK not in needs:
        return
    if isinstance(program, Mapping):
        program = next(iter(program.values()), None)
    main = program or value.get("main")
    if isinstance(main, str) and (folder / main).is_file():
        command = shlex.join(["node", str(PurePosixPath(main))])
    elif isinstance(scripts, Mapping) and "start" in scripts:
        command = "npm start --silent"
    else:
        command = ""
    problem = "" if command else "does not say how it is started, or is not built yet"
    spec, what = f"mcp:{command}", f"uses {MCP_SDK}"
    yield ProjectItem("server", spec, "package.json", what, extra="mcp", problem=problem)


def _read_json(path: Path, unread: list[str], name: str) -> Mapping[str, Any]:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return {}
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        unread.append(f"{name}  can't be read: {error}")
        return {}
    return value if isinstance(value, Mapping) else {}


def _rank(item: ProjectItem) -> tuple[int, ...]:
    """Sorts what can be used as it is before other things, and explicit tools before mere functions."""
    kinds = ("list of tools", "function that makes tools")
    usual = item.name in ("agent", "make_agent", "tools")
    return (
        bool(item.problem),
        item.is_guess,
        item.kind == "tool" and item.what == "function",
        item.kind == "tool" and item.what not in kinds,
        not usual,
        len(PurePosixPath(item.file).parts),
    )
