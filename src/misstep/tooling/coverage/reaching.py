"""Which lines of a tool's own functions can be run at all."""

import dis
import linecache
import textwrap
from collections.abc import Iterable, Iterator
from types import CodeType

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
