"""Knows which code belongs to a tool, which of its lines can run, and a stable number for each line."""

import dis
import hashlib
import linecache
import os
import sysconfig
import textwrap
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from pathlib import PurePath
from types import CodeType

BITS = 24  # bits of a line's number; an edge is two of them and a count class, and fits into a double
_FROM_THE_END = 3  # trailing path components that identify a file wherever it is installed


class FunctionLines(dict[int, int]):
    """The numbers of a function's lines, each computed when the line first runs."""

    __slots__ = ("_name",)

    def __init__(self, code: CodeType) -> None:
        super().__init__()
        file = "/".join(code.co_filename.replace("\\", "/").split("/")[-_FROM_THE_END:])
        self._name = f"{file}\n{code.co_qualname}\n".encode(errors="surrogatepass")

    def __missing__(self, line: int) -> int:
        digest = hashlib.blake2b(self._name + b"%d" % line, digest_size=BITS // 8).digest()
        number = self[line] = int.from_bytes(digest, "big") or 1  # 0 is the start of a call
        return number


class ReachedLines:
    """The lines of a tool's own code that have run, by function.

    References to code objects are kept, so that their ids are not reused.
    """

    def __init__(self) -> None:
        self._functions = dict[int, tuple[CodeType, FunctionLines]]()

    def lines_of(self, code: CodeType) -> FunctionLines:
        found = self._functions.get(id(code))
        if found is None:
            found = self._functions[id(code)] = (code, FunctionLines(code))
        return found[1]

    def run_in(self, file: str) -> set[int]:
        """The lines of a file that have run."""
        resolved = os.path.realpath(file)
        return {
            line
            for code, lines in list(self._functions.values())
            if code.co_filename == file or os.path.realpath(code.co_filename) == resolved
            for line in list(lines)
        }


_SITES = ("site-packages", "dist-packages")
_LIBRARY = PurePath(os.path.realpath(sysconfig.get_paths()["stdlib"]))
_MISSTEP = PurePath(os.path.realpath(__file__)).parents[2]


class Ownership:
    """Whether a file belongs to the tools that are defined in `files`.

    An installed tool owns its whole top-level package. Any other tool owns the directory of its file and
    everything below, except installed packages, the standard library and misstep.
    """

    def __init__(self, files: Iterable[str]) -> None:
        paths = [_resolved(file) for file in files if file]
        self._roots = {_installed(path) or path.parent for path in paths if not _is_within(path, _MISSTEP)}
        self.owns = cache(self._owns)

    def _owns(self, filename: str) -> bool:
        if not filename or filename.startswith("<"):
            return False  # generated code, such as <string>
        path = _resolved(filename)
        if _is_within(path, _MISSTEP):
            return False
        if installed := _installed(path):
            return installed in self._roots
        return any(_is_within(path, root) for root in self._roots)


def _installed(path: PurePath) -> PurePath | None:
    """The top-level package or module of an installed file, else None."""
    parts = path.parts
    sites = [index for index, part in enumerate(parts[:-1]) if part in _SITES]
    if sites:
        return PurePath(*parts[: sites[-1] + 2])
    return PurePath(*parts[: len(_LIBRARY.parts) + 1]) if _is_within(path, _LIBRARY) else None


def _is_within(path: PurePath, root: PurePath) -> bool:
    return path.parts[: len(root.parts)] == root.parts


def _resolved(file: str) -> PurePath:
    try:
        return PurePath(os.path.realpath(file))
    except (OSError, ValueError):  # a name with a NUL in it
        return PurePath("/", file.replace("\0", ""))


# Instructions at the start of a function, before its first line runs.
_HEAD = frozenset({"RESUME", "MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR", "GEN_START"})
_GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
_ATTRIBUTE = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_PADDING = frozenset({"CACHE", "PUSH_NULL", "PRECALL"})


def runnable_lines(file: str, first_line: int, text: str) -> list[set[int]]:
    """The lines of the function with this source, and of each function in its file that it may call."""
    last_line = first_line + text.rstrip("\n").count("\n")
    module = _compiled("".join(linecache.getlines(file)), file)
    functions = list(_functions(module))
    chosen = [code for code in functions if first_line <= code.co_firstlineno <= last_line]
    if module and chosen:
        return apart(_lines(code) for code in _reachable(chosen, functions, module))
    alone = _functions(_compiled(textwrap.dedent(text), file))
    return apart({line + first_line - 1 for line in _lines(code)} for code in alone)


def apart(functions: Iterable[set[int]]) -> list[set[int]]:
    """Remove lines from later functions that an earlier one has, as for a lambda within a line."""
    seen, apart = set[int](), list[set[int]]()
    for lines in functions:
        apart.append(lines - seen)
        seen |= lines
    return apart


def ranges(lines: Iterable[int], among: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The first and last line of each run of lines; lines not in `among` don't interrupt a run."""
    for is_wanted, run in groupby(sorted(among), key=set(lines).__contains__):
        if is_wanted:
            first, *rest = run
            yield first, rest[-1] if rest else first


def _reachable(chosen: list[CodeType], functions: list[CodeType], module: CodeType) -> list[CodeType]:
    """The chosen functions and those in the same file that they may call, transitively.

    Names from other modules are not followed, and methods only in classes that are used, because a function
    elsewhere may have the same name.
    """
    imported = _imported(module)
    found = list(chosen)
    used = {code.co_qualname.rpartition(".")[0] for code in chosen} | _mentioned(module, imported)[0]
    seen = -1
    while seen != (seen := len(found)):
        for code in list(found):
            names, attributes = _mentioned(code, imported)
            used |= names
            called = [each for each in functions if _is_called(each, code, names, attributes, used)]
            found += [each for each in called if each not in found]
    return found


def _is_called(
    other: CodeType, code: CodeType, names: set[str], attributes: set[str], used: set[str]
) -> bool:
    """Whether `code` may call `other`: by name, as a method, or as a nested function."""
    before, _, name = other.co_qualname.rpartition(".")
    if not before:
        return name in names
    if before.endswith("<locals>"):
        return name in code.co_freevars and code.co_qualname.startswith(before)
    return before in names if name.startswith("__") else name in attributes and before in used


def _mentioned(code: CodeType, imported: set[str]) -> tuple[set[str], set[str]]:
    """Global names, and attributes of anything not imported, that the code uses."""
    names, attributes = set[str](), set[str]()
    foreign, elsewhere = False, imported | _imported(code)
    for step in dis.get_instructions(code):
        if step.opname in _ATTRIBUTE:
            attributes |= set() if foreign else {step.argval}
        elif step.opname.startswith("LOAD_") and isinstance(step.argval, str):
            foreign = step.argval in elsewhere
            names |= {step.argval} if step.opname in _GLOBAL and not foreign else set()
        elif step.opname not in _PADDING:
            foreign = False
    return names, attributes


def _imported(code: CodeType) -> set[str]:
    """Names bound to imports in the code and not reassigned later."""
    found, imports = set[str](), False
    for step in dis.get_instructions(code):
        if step.opname.startswith("STORE_") and isinstance(step.argval, str):
            found = found | {step.argval} if imports else found - {step.argval}
        if step.opname not in _PADDING:
            imports = step.opname in {"IMPORT_NAME", "IMPORT_FROM"}
    return found


def _compiled(text: str, file: str) -> CodeType | None:
    try:
        return compile(text, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None


def _functions(code: CodeType | None) -> Iterator[CodeType]:
    """All functions within; module and class bodies run on import and don't count, nor do annotations."""
    for inner in code.co_consts if code else ():
        if isinstance(inner, CodeType):
            is_function = inner.co_flags & 0x2  # CO_NEWLOCALS, which class bodies lack
            if is_function and inner.co_name != "__annotate__":  # of Python 3.14 and newer
                yield inner
            yield from _functions(inner)


def _lines(code: CodeType) -> set[int]:
    first = line = code.co_firstlineno
    lines = set[int]()
    starts = {offset: number for offset, _, number in code.co_lines() if number is not None}
    is_one_line = {*starts.values()} <= {first}
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset, line)
        if instruction.opname not in _HEAD and (line != first or is_one_line):
            lines.add(line)
    return lines
