"""What docstrings say about a function as a whole, and about each of its parameters.

Python code read by one thread at a time: Python itself counts wrongly where two of them do so at once.
"""

import ast
import re
import threading
import warnings

import msgspec

TRIES = 3  # for others may read code meanwhile: agents, and Python itself where it words an error

_lock = threading.RLock()  # what tidies up meanwhile may read code too


def parse_module(code: str | bytes) -> ast.Module | None:
    """The code as a tree; None where it is none that Python could read."""
    tree = _parsed(code, "exec")
    return tree if isinstance(tree, ast.Module) else None


def parse_expression(code: str) -> ast.expr | None:
    """The same for an expression."""
    tree = _parsed(code, "eval")
    return tree.body if isinstance(tree, ast.Expression) else None


def _parsed(code: str | bytes, mode: str) -> ast.AST | None:
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is odd about code is its author's business
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
    """The text before all sections, and the texts of parameters by their names."""

    text: str = ""
    parameters: dict[str, str] = {}


def parse_docstring(docstring: str) -> Documented:
    """A docstring without its indentation, in Google's, NumPy's or Sphinx's style, or in none at all."""
    lines = docstring.splitlines()
    end = next((place for place in range(len(lines)) if begins_section(lines, place)), len(lines))
    reader = _Reader()
    for place in range(end, len(lines)):
        reader.read(lines, place)
    texts = {name: " ".join(filter(None, parts)) for name, parts in reader.found.items()}
    return Documented("\n".join(lines[:end]).strip(), texts)


class _Reader:
    """Goes through the sections line by line; `_indent` is how far entries of the present one stand in."""

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
    """Whether a heading stands here: a known word with a colon or a line under it, or a field of Sphinx."""
    line = lines[place]
    if _FIELD.match(line):
        return True
    return bool(_SECTION.fullmatch(line)) and (line.endswith(":") or is_underlined(lines, place))


def is_underlined(lines: list[str], place: int) -> bool:
    return place + 1 < len(lines) and bool(_UNDERLINE.fullmatch(lines[place + 1].strip()))
