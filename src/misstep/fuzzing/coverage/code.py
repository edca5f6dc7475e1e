"""Which lines of a tool's own functions can be run at all.

Numbers for places in code that are the same in every process.

Tells a tool's own code from the libraries that it uses.
"""

import dis
import hashlib
import linecache
import os
import sysconfig
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from types import CodeType
from typing import TypeAlias

BITS = 24  # of a place; an edge is two places with a class of counts, and fits into a double
MOST_ERRORS = 64  # exceptions of one call, by their places, that are remembered
_FROM_THE_END = 3  # parts of a file's path that tell it from others wherever the code is installed


# The last exception that came through a place in a call, by the function and the line or instruction.
Errors: TypeAlias = dict[tuple[int, int], BaseException]


class FunctionLines(dict[int, int]):
    """The numbers of a function's lines, each made when the line is first asked for, that is, run."""

    __slots__ = ("_name",)

    def __init__(self, code: CodeType) -> None:
        super().__init__()
        file = "/".join(code.co_filename.replace("\\", "/").split("/")[-_FROM_THE_END:])
        self._name = f"{file}\n{code.co_qualname}\n".encode(errors="surrogatepass")

    def __missing__(self, line: int) -> int:
        digest = hashlib.blake2b(self._name + b"%d" % line, digest_size=BITS // 8).digest()
        number = self[line] = int.from_bytes(digest, "big") or 1  # nought is where a call begins
        return number


class ReachedLines:
    """The lines of a tool's own code that have been run, by function.

    Code is kept, lest another one gets its address.
    """

    def __init__(self) -> None:
        self._functions = dict[int, tuple[CodeType, FunctionLines]]()

    def lines_of(self, code: CodeType) -> FunctionLines:
        found = self._functions.get(id(code))
        if found is None:
            found = self._functions[id(code)] = (code, FunctionLines(code))
        return found[1]

    def run_in(self, file: str) -> set[int]:
        """The lines of a file that have been run."""
        resolved = os.path.realpath(file)
        functions = list(self._functions.values())
        return {line for code, lines in functions if _is_from(code, file, resolved) for line in list(lines)}


def _is_from(code: CodeType, file: str, resolved: str) -> bool:
    return code.co_filename == file or os.path.realpath(code.co_filename) == resolved


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


# What stands at the head of a function before its first line is run.
_HEAD = frozenset({"RESUME", "MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR", "GEN_START"})
_GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
_ATTRIBUTE = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_PADDING = frozenset({"CACHE", "PUSH_NULL", "PRECALL"})


def runnable_lines(file: str, first_line: int, text: str) -> list[set[int]]:
    """The lines of the function with this text, and of each in the same file that it may call."""
    last_line = first_line + text.rstrip("\n").count("\n")
    module = _compiled("".join(linecache.getlines(file)), file)
    functions = list(_functions(module))
    chosen = [code for code in functions if first_line <= code.co_firstlineno <= last_line]
    if module and chosen:
        return _apart(_lines(code) for code in _reachable(chosen, functions, module))
    alone = _functions(_compiled(textwrap.dedent(text), file))
    return _apart({line + first_line - 1 for line in _lines(code)} for code in alone)


def _apart(functions: Iterable[set[int]]) -> list[set[int]]:
    """No line twice, as where one function is written within a line of another."""
    seen, apart = set[int](), list[set[int]]()
    for lines in functions:
        apart.append(lines - seen)
        seen |= lines
    return apart


def ranges(lines: Iterable[int], among: Iterable[int]) -> Iterator[tuple[int, int]]:
    """First and last of the lines that stand together; what is not `among` them separates none."""
    wanted = set(lines)
    first = last = None
    for line in sorted(among):
        if line in wanted:
            first, last = first if first is not None else line, line
        elif first is not None and last is not None:
            yield first, last
            first = last = None
    if first is not None and last is not None:
        yield first, last


def _reachable(chosen: list[CodeType], functions: list[CodeType], module: CodeType) -> list[CodeType]:
    """Those chosen, those of the file that they may call, and so on.

    What a name of another module stands for is not looked for here, and a method only in classes that are
    used: a function elsewhere may have the same name.
    """
    imported = _imported(module)
    found = list(chosen)
    used = {_class_of(code) for code in chosen} | _mentioned(module, imported)[0]
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
    """Whether one function may call another: by its name, as a method, or within the same function."""
    before, _, name = other.co_qualname.rpartition(".")
    if not before:
        return name in names
    if before.endswith("<locals>"):
        return name in code.co_freevars and code.co_qualname.startswith(before)
    return before in names if name.startswith("__") else name in attributes and before in used


def _mentioned(code: CodeType, imported: set[str]) -> tuple[set[str], set[str]]:
    """Names of the module, and attributes of anything but what was imported, that some code asks for."""
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
    """The names that some code has for what it imports, if they stand for nothing else later on."""
    found, imports = set[str](), False
    for step in dis.get_instructions(code):
        if step.opname.startswith("STORE_") and isinstance(step.argval, str):
            found = found | {step.argval} if imports else found - {step.argval}
        if step.opname not in _PADDING:
            imports = step.opname in {"IMPORT_NAME", "IMPORT_FROM"}
    return found


def _class_of(code: CodeType) -> str:
    return code.co_qualname.rpartition(".")[0]


def _compiled(text: str, file: str) -> CodeType | None:
    try:
        return compile(text, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None


def _functions(code: CodeType | None) -> Iterator[CodeType]:
    """All functions within; bodies of modules and classes run when they are loaded, and are none."""
    for inner in code.co_consts if code else ():
        if isinstance(inner, CodeType):
            if inner.co_flags & 0x2:  # with local variables of its own, which a class has not
                yield inner
            yield from _functions(inner)


def _lines(code: CodeType) -> set[int]:
    lines, line = set[int](), code.co_firstlineno
    starts = {offset: number for offset, _, number in code.co_lines() if number is not None}
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset, line)
        if instruction.opname not in _HEAD and (line != code.co_firstlineno or _is_one_line(code)):
            lines.add(line)
    return lines


def _is_one_line(code: CodeType) -> bool:
    return {number for _, _, number in code.co_lines()} <= {code.co_firstlineno, None}
