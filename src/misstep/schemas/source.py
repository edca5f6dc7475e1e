"""Parses Python source and docstrings: the text about a function and about each of its parameters.

Code is parsed by one thread at a time, because Python's parser miscounts recursion if two threads use it.
"""

import ast
import re
import threading
import warnings

import msgspec

TRIES = 3  # attempts, because other code may parse meanwhile: agents, or Python itself for an error message

_lock = threading.RLock()  # reentrant, because finalizers that run meanwhile may parse code too


def parse_module(code: str | bytes) -> ast.Module | None:
    """The code as a tree; None if Python can't parse it."""
    tree = _parsed(code, "exec")
    return tree if isinstance(tree, ast.Module) else None


def parse_expression(code: str) -> ast.expr | None:
    """The same for an expression."""
    tree = _parsed(code, "eval")
    return tree.body if isinstance(tree, ast.Expression) else None


def _parsed(code: str | bytes, mode: str) -> ast.AST | None:
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings are for the code's author
        for _ in range(TRIES):
            try:
                return ast.parse(code, mode=mode)
            except SystemError:
                continue
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None
    return None


_SECTION = re.compile(
    r"(args|arguments|parameters|params|returns?|raises|yields|examples?|notes?|attributes|warnings?):?",
    re.IGNORECASE,
)
_OF_PARAMETERS = re.compile(r"(args|arguments|parameters|params)\b", re.IGNORECASE)
_UNDERLINE = re.compile(r"-{3,}")
_GOOGLE = re.compile(r"\*{0,2}(?P<name>\w+)\s*(?:\([^)]*\))?\s*:\s*(?P<text>.*)")
_NUMPY = re.compile(r"\*{0,2}(?P<name>\w+)(?:\s*:.*)?")
_SPHINX = re.compile(r"[:@]param\s+(?:[^:]*\s)?\*{0,2}(?P<name>\w+)\s*:\s*(?P<text>.*)")
_FIELD = re.compile(r"[:@](param|type|returns?|rtype|raises?)\b")


class Documented(msgspec.Struct, frozen=True):
    """The text before all sections, and the texts of parameters by name."""

    text: str = ""
    parameters: dict[str, str] = {}


def parse_docstring(docstring: str) -> Documented:
    """Parse a docstring without indentation, in Google, NumPy, Sphinx or no particular style."""
    lines = docstring.splitlines()
    end = next((place for place in range(len(lines)) if begins_section(lines, place)), len(lines))
    found = dict[str, list[str]]()
    last = list[str]()
    entry: re.Pattern[str] | None = None  # how parameters are written in the current section
    outer: int | None = None  # the indentation of its entries
    for place in range(end, len(lines)):
        line = lines[place].strip()
        indent = len(lines[place]) - len(lines[place].lstrip())
        if _FIELD.match(line):
            entry, outer, last = _SPHINX, 0, []
        elif begins_section(lines, place):
            style = _NUMPY if is_underlined(lines, place) else _GOOGLE
            entry, outer, last = style if _OF_PARAMETERS.match(line) else None, None, []
            continue
        if entry is None or not line or _UNDERLINE.fullmatch(line):
            continue
        outer = indent if outer is None else outer
        if indent > outer:
            last.append(line)
        elif named := entry.match(line):
            last = found[named["name"]] = [named.groupdict().get("text") or ""]
    texts = {name: " ".join(filter(None, parts)) for name, parts in found.items()}
    return Documented("\n".join(lines[:end]).strip(), texts)


def begins_section(lines: list[str], place: int) -> bool:
    """Whether a section heading is here: a known word with a colon or an underline, or a Sphinx field."""
    line = lines[place]
    if _FIELD.match(line):
        return True
    return bool(_SECTION.fullmatch(line)) and (line.endswith(":") or is_underlined(lines, place))


def is_underlined(lines: list[str], place: int) -> bool:
    return place + 1 < len(lines) and bool(_UNDERLINE.fullmatch(lines[place + 1].strip()))
