"""The docstring of a function where it stands in a file."""

import ast
import io
import re
import textwrap
import tokenize
from difflib import SequenceMatcher

import msgspec
from msgspec import structs

from misstep.errors import UsageError

WIDTH = 100  # of lines that are written anew

_LITERAL = re.compile(r"(?P<prefix>[rRuU]?)(?P<quotes>\"\"\"|'''|\"|')(?P<inner>.*)(?P=quotes)", re.DOTALL)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


class DocstringPlace(msgspec.Struct, frozen=True):
    """Where a docstring stands in a text, or would: from `start` to `end`, characters from the beginning.

    `prefix` and `quotes` are those of the literal, `inner` is what stands between them as it was typed;
    `indent` is what stands before the function's own lines, `newline` what ends a line there.
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

    @property
    def lines(self) -> list[str]:
        """What stands between the quotes as it was typed, without indentation, line ends and empty lines at
        the end."""
        first, *others = [_bare(line) for line in lines_of(self.inner or "")] or [""]
        lines = [first.lstrip(), *[_dedented(line, self.indent) for line in others]]
        while lines and not lines[-1].strip():
            lines.pop()
        return lines

    def cooked(self) -> "DocstringPlace":
        """A raw literal as one with escapes, in which everything can be said."""
        plain = structs.replace(self, prefix="")
        return structs.replace(plain, inner=escaped(self.inner or "", plain))


def find_docstring(text: str, line: int, where: str) -> DocstringPlace:
    """The docstring of the function that begins at a line, counted from 1 with its decorators.

    A `UsageError` where there is no function, or one whose docstring can't be told from the rest.
    """
    function = find_function(text, line, where)
    starts = _line_starts(text)
    first = function.body[0]
    if first_line(first) <= max(function.lineno, _end_of_head(function)):
        raise UsageError(
            "has its body on the line of its head", "move the body to lines of its own", where=where
        )
    begin = starts[first_line(first) - 1]
    column = _offset(text, begin, first.col_offset)
    indent, newline = text[begin:column], _end_of(text[starts[first_line(first) - 2] : begin])
    if indent.strip():
        raise UsageError("has two statements on one line", "give each its own", where=where)
    if ast.get_docstring(function, clean=False) is None:
        return DocstringPlace(begin, begin, indent, newline)
    literal: ast.expr = first.value  # type: ignore[attr-defined]
    assert literal.end_lineno is not None
    assert literal.end_col_offset is not None
    end = _offset(text, starts[literal.end_lineno - 1], literal.end_col_offset)
    prefix, quotes, inner = _taken_apart(text[column:end], where)
    return DocstringPlace(column, end, indent, _first_end(inner) or newline, prefix, quotes, inner)


def code_of(text: str, line: int, where: str) -> str:
    """The whole function that begins at a line, as it was typed; a `UsageError` where there is none."""
    function = find_function(text, line, where)
    return "".join(lines_of(text)[line - 1 : function.end_lineno])


def written(place: DocstringPlace, lines: list[str]) -> str:
    """The literal with these lines between its quotes, the first of them right behind them.

    Lines come without the function's indentation. Those that were there before stay as they are to the last
    byte.
    """
    quotes = place.quotes if len(place.quotes) == 3 or len(lines) == 1 else place.quotes * 3
    before, kept = lines_of(place.inner or ""), _kept(place.lines, lines)
    bare = [
        _bare(before[kept[at]]) if at in kept else f"{place.indent if at and line else ''}{line}"
        for at, line in enumerate(lines)
    ]
    ends = [_end_of(before[kept[at]]) if at in kept else "" for at in range(len(lines) - 1)]
    ends = [*[end or place.newline for end in ends], _tail(place, lines)]
    inner = "".join(line + end for line, end in zip(bare, ends, strict=True))
    literal = f"{place.prefix}{quotes}{inner}{quotes}"
    return literal if place.inner is not None else f"{place.indent}{literal}{place.newline}"


def escaped(text: str, place: DocstringPlace) -> str:
    """A text as it has to be typed between the quotes; raw literals take it as it is."""
    if place.is_raw:
        return text
    quote = place.quotes[0]
    special = rf"\\|{quote}" if len(place.quotes) == 1 else rf"\\|{quote}{{3,}}|{quote}\Z"
    return re.sub(special, lambda found: "".join(f"\\{char}" for char in found[0]), text)


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


def find_function(text: str, line: int, where: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError("is not Python that can be read", str(error), where=where) from error
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and first_line(node) == line:
            return node
    hint = "a lambda, a class or an object has no docstring of its own: use the override (--out)"
    raise UsageError(f"there is no function at line {line}", hint, where=where)


def first_line(node: ast.stmt) -> int:
    """The line with which a statement begins, that of its first decorator if it has some."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *[each.lineno for each in decorators]])


def _end_of_head(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The last line that arguments and the return hint take up."""
    args = node.args
    parts = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg, node.returns]
    defaults = [*args.defaults, *args.kw_defaults]
    return max([each.end_lineno or 0 for each in (*parts, *defaults) if each is not None], default=0)


def _kept(before: list[str], after: list[str]) -> dict[int, int]:
    """Where lines that stay stood before, by where they stand now; the first line is like no other."""
    same = SequenceMatcher(None, before[1:], after[1:], autojunk=False).get_matching_blocks()
    kept = {each.b + at + 1: each.a + at + 1 for each in same for at in range(each.size)}
    return {0: 0, **kept} if before[:1] == after[:1] else kept


def _tail(place: DocstringPlace, lines: list[str]) -> str:
    """What stands between the last line and the quotes."""
    if len(lines) == 1:
        return ""
    count = len(place.lines)
    if count < 2:
        return place.newline + place.indent
    before = lines_of(place.inner or "")
    return _end_of(before[count - 1]) + "".join(before[count:])


def _dedented(line: str, indent: str) -> str:
    return line[len(indent) :] if line.startswith(indent) else line.lstrip() if not line.strip() else line


def _bare(line: str) -> str:
    return line.rstrip("\r\n")


def _end_of(line: str) -> str:
    return line[len(_bare(line)) :]


def _first_end(inner: str) -> str:
    return _end_of(lines_of(inner)[0]) if inner else ""


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
