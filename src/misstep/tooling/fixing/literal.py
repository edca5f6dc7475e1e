"""The docstring of a function where it stands in a file."""

import ast
import io
import re
import textwrap
import tokenize

import msgspec

from misstep.errors import UsageError

WIDTH = 100  # of lines that are written anew

_LITERAL = re.compile(r"(?P<prefix>[rRuU]?)(?P<quotes>\"\"\"|'''|\"|')(?P<inner>.*)(?P=quotes)", re.DOTALL)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


class Place(msgspec.Struct, frozen=True):
    """Where a docstring stands in a text, or would: from `start` to `end`, characters from the beginning.

    `prefix` and `quotes` are those of the literal, `inner` is what stands between them as it was typed;
    `indent` is what stands before the function's own lines, `newline` what ends a line of the file.
    """

    start: int
    end: int
    indent: str
    newline: str
    prefix: str = ""
    quotes: str = '"""'
    inner: str | None = None

    @property
    def is_raw(self) -> bool:
        return self.prefix.lower() == "r"


def find_docstring(text: str, line: int, where: str) -> Place:
    """The docstring of the function that begins at a line, counted from 1 with its decorators.

    A `UsageError` where there is no function, or one whose docstring can't be told from the rest.
    """
    function = _find_function(text, line, where)
    starts = _line_starts(text)
    first = function.body[0]
    newline = "\r\n" if "\r\n" in text else "\n"
    if first.lineno <= max(function.lineno, _end_of_head(function)):
        raise UsageError(
            "has its body on the line of its head", "move the body to lines of its own", where=where
        )
    begin = starts[first.lineno - 1]
    column = _offset(text, begin, first.col_offset)
    indent = text[begin:column]
    if indent.strip():
        raise UsageError("has two statements on one line", "give each its own", where=where)
    if ast.get_docstring(function, clean=False) is None:
        return Place(begin, begin, indent, newline)
    literal: ast.expr = first.value  # type: ignore[attr-defined]
    assert literal.end_lineno is not None
    assert literal.end_col_offset is not None
    end = _offset(text, starts[literal.end_lineno - 1], literal.end_col_offset)
    prefix, quotes, inner = _taken_apart(text[column:end], where)
    return Place(column, end, indent, newline, prefix, quotes, inner)


def written(place: Place, lines: list[str]) -> str:
    """The literal with these lines between its quotes, the first of them right behind them.

    Lines come without the function's indentation; none of them is changed but for escapes.
    """
    quotes = place.quotes if len(place.quotes) == 3 or len(lines) == 1 else place.quotes * 3
    inner = (place.newline).join([lines[0], *[f"{place.indent}{line}" if line else "" for line in lines[1:]]])
    if len(lines) > 1:
        inner += f"{place.newline}{place.indent}"
    literal = f"{place.prefix}{quotes}{inner}{quotes}"
    return literal if place.inner is not None else f"{place.indent}{literal}{place.newline}"


def escaped(text: str, place: Place) -> str:
    """A text as it has to be typed between the quotes; raw literals take it as it is."""
    if place.is_raw:
        return text
    quote = place.quotes[0]
    typed = text.replace("\\", "\\\\").replace(quote * 3, f"\\{quote}" * 3)
    if len(place.quotes) == 1:
        return re.sub(rf"(?<!\\){quote}", f"\\\\{quote}", typed)
    return f"{typed[:-1]}\\{quote}" if typed.endswith(quote) else typed


def wrapped(text: str, indent: int, further: str = "") -> list[str]:
    """The lines of a text, long ones broken at spaces; `further` stands before what is broken off."""
    lines = list[str]()
    for line in text.split("\n"):
        lines += textwrap.wrap(
            line,
            WIDTH - indent,
            subsequent_indent=further,
            expand_tabs=False,
            replace_whitespace=False,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    return lines


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends, as Python counts them."""
    return _LINE.findall(text)


def _find_function(text: str, line: int, where: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError("is not Python that can be read", str(error), where=where) from error
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _first_line(node) == line:
            return node
    hint = "a lambda, a class or an object has no docstring of its own: use the override (--out)"
    raise UsageError(f"there is no function at line {line}", hint, where=where)


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *[each.lineno for each in node.decorator_list]])


def _end_of_head(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The last line that arguments and the return hint take up."""
    args = node.args
    parts = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg, node.returns]
    defaults = [*args.defaults, *args.kw_defaults]
    return max([each.end_lineno or 0 for each in (*parts, *defaults) if each is not None], default=0)


def _taken_apart(literal: str, where: str) -> tuple[str, str, str]:
    """Prefix, quotes and what is between them, of a docstring that is one literal."""
    tokens = tokenize.generate_tokens(io.StringIO(f"({literal})").readline)
    found = _LITERAL.fullmatch(literal)
    if found is None or sum(token.type == tokenize.STRING for token in tokens) != 1:
        raise UsageError("has a docstring that is put together", "write it as one text", where=where)
    return found["prefix"], found["quotes"], found["inner"]


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in lines_of(text):
        starts.append(starts[-1] + len(line))
    return starts


def _offset(text: str, start: int, column: int) -> int:
    """The place of a column that is counted in bytes, as Python does."""
    return start + len(
        text[start : start + column].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore")
    )
