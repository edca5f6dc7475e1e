"""Loaded by a Python that runs a server under test: tells the client which of the server's own code runs.

Tracing slows down all code in the process. Instead, calls of `HitReporter.hit` are put into the functions
of the server's own files when these are compiled. Works in Python 3.8 and newer, and imports nothing of
misstep. The receiving end, `server_code.py`, describes what is sent.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import re
import stat
import sys
import zlib
from _thread import RLock
from collections import deque
from importlib.machinery import SourceFileLoader
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

CHANNEL = "_MISSTEP_COVERAGE"  # the descriptor of a pipe, and its inode
HIT = "_misstep_hit"
FUNCTIONS = 1 << 12  # at most, in a file
MOST_COUNTED = 64
LONGEST = 1 << 20  # characters of a file; longer ones are generated
SITES = ("site-packages", "dist-packages")
LIBRARY = os.path.dirname(os.path.realpath(os.__file__))
# They start a server that their arguments name.
LAUNCHERS = {"mcp", "fastmcp", "uvicorn", "gunicorn", "hypercorn"}
IMPORT = re.compile(r"^(?:from|import)\s+([A-Za-z_]\w*)", re.M)


class HitReporter:
    """Sends each transition between two places in a function once, as far as the pipe has room."""

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe
        self.lock = RLock()
        self.waiting: deque[bytes] = deque()
        self.sent: set[tuple[int, int, int, int]] = set()
        self.states: dict[int, tuple[list[int], dict[tuple[int, int], int]]] = {}

    def hit(self, function: int, place: int) -> None:
        """A function reaches a place in it; 0 is its start."""
        if self.pipe < 0:
            return
        if not place or function not in self.states:
            self.states[function] = ([0], {})
        if place:
            last, counts = self.states[function]
            edge = (last[0], place)
            last[0] = place
            count = counts[edge] = counts.get(edge, 0) + 1
            record = (function, *edge, count)
            if not count & (count - 1) and count <= MOST_COUNTED and record not in self.sent:
                self.sent.add(record)
                self.send(f"{function} {edge[0]} {place} {count}\n")

    def send(self, text: str) -> None:
        with self.lock:
            if self.pipe < 0:
                return
            self.waiting.append(text.encode("ascii"))
            try:
                self.write()
            except OSError:
                self.pipe = -1

    def write(self) -> None:
        """Write what is waiting, as far as the pipe has room; the client empties it after each call."""
        while self.waiting:
            first = self.waiting.popleft()
            try:
                rest = first[os.write(self.pipe, first) :]
            except BlockingIOError:
                rest = first
            if rest:
                self.waiting.appendleft(rest)
                return

    def stop_in_child(self) -> None:
        """Send nothing from a fork, in which no thread releases a lock that another one held."""
        self.pipe = -1
        self.lock = RLock()


class Instrumenter(ast.NodeTransformer):
    """Puts calls of `hit` before statements, and into parts of expressions that may be skipped."""

    def __init__(self, key: int) -> None:
        self.first = key * FUNCTIONS
        self.lines: list[list[int]] = []  # of the places of each function, from 1
        self.function: int | None = None

    def visit_FunctionDef(self, node: Any) -> Any:
        if len(self.lines) == FUNCTIONS:
            return node
        outer, self.function = self.function, len(self.lines)
        self.lines.append([])
        self.generic_visit(node)
        has_text = ast.get_docstring(node, clean=False) is not None
        node.body.insert(has_text, self.statement(self.call(0), node.body[-1]))
        self.function = outer
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        if self.function is not None:
            node.values[1:] = [self.marked(each) for each in node.values[1:]]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        if self.function is not None:
            node.body, node.orelse = self.marked(node.body), self.marked(node.orelse)
        return node

    def generic_visit(self, node: Any) -> Any:
        super().generic_visit(node)
        if self.function is not None and not isinstance(node, ast.ClassDef):
            for name in ("body", "orelse", "finalbody"):
                if isinstance(getattr(node, name, None), list):
                    setattr(node, name, list(self.interleaved(getattr(node, name))))
        return node

    def interleaved(self, statements: list[Any]) -> Iterator[Any]:
        for each in statements:
            if not (
                isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
            ):  # a docstring is first
                yield self.statement(self.reached(each), each)
            yield each

    def marked(self, value: Any) -> Any:
        return self.placed(ast.BoolOp(ast.Or(), [self.reached(value), value]), value)

    def reached(self, node: Any) -> ast.Call:
        assert self.function is not None
        self.lines[self.function].append(node.lineno)
        return self.call(len(self.lines[self.function]))

    def call(self, place: int) -> ast.Call:
        assert self.function is not None
        numbers: list[ast.expr] = [
            ast.Constant(self.first + self.function, kind=None),
            ast.Constant(place, kind=None),
        ]
        return ast.Call(ast.Name(HIT, ast.Load()), numbers, [])

    def statement(self, call: ast.Call, at: Any) -> Any:
        return self.placed(ast.Expr(call), at)

    def placed(self, node: Any, at: Any) -> Any:
        return ast.fix_missing_locations(ast.copy_location(node, at))


class OwnFiles:
    """Tells the server's own files from those of its dependencies: those of its package or script."""

    def __init__(self, words: list[str]) -> None:
        self.packages: set[str] = set()
        self.folders: set[str] = set()
        self.script = ""
        rest = words[1:]
        while rest:
            word = rest.pop(0)
            if word[:1] != "-":
                self.add_script(word, rest)
                break
            if word in ("-W", "-X", "--check-hash-based-pycs"):
                del rest[:1]
            elif word[:2] != "--" and "m" in word:
                self.add_packages([word.partition("m")[2] or "".join(rest[:1])], rest[1:])
                break
            elif word[:2] != "--" and "c" in word:
                break

    def add_script(self, path: str, arguments: list[str]) -> None:
        real = os.path.realpath(path)
        with open(real, encoding="utf-8") as file:
            text = file.read(LONGEST)
        if os.path.basename(os.path.dirname(real)) in ("bin", "Scripts"):
            self.add_packages(IMPORT.findall(text), arguments)
        else:
            self.script = path
            self.add_file(real)

    def add_packages(self, names: list[str], arguments: list[str]) -> None:
        for name in names:
            top = name.partition(".")[0]
            if top in LAUNCHERS:
                self.add_launched(arguments)
            elif top not in getattr(sys, "stdlib_module_names", ("sys", "re")):
                self.packages.add(top)

    def add_launched(self, arguments: list[str]) -> None:
        for word in arguments:
            path, colon, _ = word.partition(":")
            if path.endswith(".py") and os.path.isfile(path):
                self.add_file(os.path.realpath(path))
            elif colon and path.replace(".", "_").isidentifier():
                self.packages.add(path.partition(".")[0])

    def add_file(self, real: str) -> None:
        if name := installed_name(real):
            self.packages.add(name)
        else:
            self.folders.add(os.path.join(os.path.dirname(real), ""))

    def has(self, path: str) -> bool:
        real = os.path.realpath(path)
        if name := installed_name(real):
            return name in self.packages
        if real.startswith(os.path.join(LIBRARY, "")):
            return False
        parts = os.path.splitext(real)[0].split(os.sep)
        return real.startswith(tuple(self.folders)) or bool(self.packages & set(parts))


def installed_name(real: str) -> str:
    """The top-level package or module of an installed file; empty for others."""
    parts = os.path.splitext(real)[0].split(os.sep)
    return next((parts[at + 1] for at in range(len(parts) - 2, -1, -1) if parts[at] in SITES), "")


def instrumented(source: Any, path: str, sender: HitReporter) -> Any:
    """The code of a file that reports to the client, which is told about its functions."""
    tree = ast.parse(source, path)
    key = zlib.crc32(os.path.realpath(path).encode("utf-8", "replace"))
    worker = Instrumenter(key)
    code = compile(worker.visit(tree), path, "exec", dont_inherit=True)
    told = {"key": key, "file": os.path.realpath(path), "functions": worker.lines}
    sender.send(json.dumps(told) + "\n")
    return code


def instrument_imports(own: OwnFiles, sender: HitReporter) -> None:
    """Change what is imported from source; also what `python -m` runs."""
    usual = SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        path = self.get_filename(fullname)
        try:
            if own.has(path):
                source = self.get_data(path)
                if len(source) <= LONGEST:
                    return instrumented(source, path, sender)
        except Exception:
            pass
        return usual(self, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def instrument_script(own: OwnFiles, sender: HitReporter) -> None:
    """Run other code in place of the main script, which no loader compiles: once, when it is entered."""

    def enter(frame: Any, _event: str, _argument: Any) -> None:
        code = frame.f_code
        if code.co_name != "<module>" or frame.f_globals.get("__name__") != "__main__":
            return
        sys.settrace(None)
        try:
            with open(own.script, "rb") as file:
                ours = instrumented(file.read(LONGEST), code.co_filename, sender)
        except Exception:
            return
        exec(ours, frame.f_globals)
        raise SystemExit

    sys.settrace(enter)


def command() -> list[str]:
    """The command of this process, also before Python 3.10."""
    if hasattr(sys, "orig_argv"):
        return list(sys.orig_argv)
    with open("/proc/self/cmdline", encoding="utf-8") as file:
        return file.read().split("\0")[:-1]


def start() -> None:
    """Instrument this process, if it is the server and its client wants it."""
    given = re.match(r"(\d+) (\d+)$", os.environ.get(CHANNEL, ""))
    if given is None:
        return
    own = OwnFiles(command())
    if not (own.packages or own.folders):
        return
    del os.environ[CHANNEL]  # programs that the server starts are not it
    pipe, inode = map(int, given.groups())
    found = os.fstat(pipe)
    if not stat.S_ISFIFO(found.st_mode) or found.st_ino != inode:
        return  # a program in between has closed it
    os.set_inheritable(pipe, False)
    sender = HitReporter(pipe)
    os.register_at_fork(after_in_child=sender.stop_in_child)
    setattr(builtins, HIT, sender.hit)
    instrument_imports(own, sender)
    if own.script:
        instrument_script(own, sender)
