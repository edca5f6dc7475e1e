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
    reader = _Reader()
    for place in range(end, len(lines)):
        reader.read(lines, place)
    texts = {name: " ".join(filter(None, parts)) for name, parts in reader.found.items()}
    return Documented("\n".join(lines[:end]).strip(), texts)


class _Reader:
    """Reads the sections line by line; `_indent` is the indentation of entries in the current one."""

    def __init__(self) -> None:
        self.found = dict[str, list[str]]()
        self._entry: re.Pattern[str] | None = None
        self._indent: int | None = None
        self._last: list[str] = []

    def read(self, lines: list[str], place: int) -> None:
        line = lines[place].strip()
        indent = len(lines[place]) - len(lines[place].lstrip())
        if _FIELD.match(line):
            self._begin(_SPHINX, 0)
        elif begins_section(lines, place):
            style = _NUMPY if is_underlined(lines, place) else _GOOGLE
            self._begin(style if _OF_PARAMETERS.match(line) else None, None)
            return
        if self._entry is None or not line or _UNDERLINE.fullmatch(line):
            return
        self._indent = indent if self._indent is None else self._indent
        entry = self._entry.match(line) if indent <= self._indent else None
        if entry:
            self._last = self.found[entry["name"]] = [entry.groupdict().get("text") or ""]
        elif indent > self._indent:
            self._last.append(line)

    def _begin(self, entry: re.Pattern[str] | None, indent: int | None) -> None:
        self._entry, self._indent, self._last = entry, indent, []


def begins_section(lines: list[str], place: int) -> bool:
    """Whether a section heading is here: a known word with a colon or an underline, or a Sphinx field."""
    line = lines[place]
    if _FIELD.match(line):
        return True
    return bool(_SECTION.fullmatch(line)) and (line.endswith(":") or is_underlined(lines, place))


def is_underlined(lines: list[str], place: int) -> bool:
    return place + 1 < len(lines) and bool(_UNDERLINE.fullmatch(lines[place + 1].strip()))
