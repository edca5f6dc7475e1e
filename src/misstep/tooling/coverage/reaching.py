"""Which lines of a tool's own functions can be run at all."""

import dis
import linecache
import textwrap
from collections.abc import Iterable, Iterator
from types import CodeType

# What stands at the head of a function before its first line is run.
_HEAD = frozenset({"RESUME", "MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR", "GEN_START"})


def runnable_lines(file: str, first_line: int, text: str) -> list[set[int]]:
    """The lines of the function with this text, and of each in the same file that it may call."""
    last_line = first_line + text.rstrip("\n").count("\n")
    functions = list(_functions(_compiled("".join(linecache.getlines(file)), file)))
    chosen = [code for code in functions if first_line <= code.co_firstlineno <= last_line]
    if chosen:
        return _apart(_lines(code) for code in _reachable(chosen, functions))
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


def _reachable(chosen: list[CodeType], functions: list[CodeType]) -> list[CodeType]:
    """Those chosen, and by their names those that they mention, and so on."""
    found = list(chosen)
    for code in found:
        mentioned = {*code.co_names, *code.co_freevars}
        for other in functions:
            if other not in found and not mentioned.isdisjoint(_names(other)):
                found.append(other)
    return found


def _names(code: CodeType) -> tuple[str, ...]:
    """What a function is called by; a constructor by the name of its class."""
    parts = code.co_qualname.split(".")
    return tuple(parts[-2:]) if parts[-1].startswith("__") and len(parts) > 1 else (parts[-1],)


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
