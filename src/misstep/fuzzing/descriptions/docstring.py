"""Replaces descriptions of tools and parameters in docstrings, and leaves the rest of a file unchanged.

Google, NumPy and Sphinx styles are kept. Every edit is checked: only the docstring may differ afterwards.
"""

import ast
import inspect
import io
import re
import textwrap
import tokenize
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import accumulate

import msgspec
from msgspec import structs

from misstep.core.results.descriptions import Wording
from misstep.errors import UsageError
from misstep.schemas.source import begins_section, is_underlined, parse_docstring

WIDTH = 100  # of rewritten lines

_LITERAL = re.compile(r"(?P<prefix>[rRuU]?)(?P<quotes>\"\"\"|'''|\"|')(?P<inner>.*)(?P=quotes)", re.DOTALL)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


class DocstringPlace(msgspec.Struct, frozen=True):
    """Where a docstring is in a text, or could be inserted: characters `start` to `end`.

    `prefix` and `quotes` belong to the literal, and `inner` is the source text between the quotes. `indent`
    is the indentation of the function's body, `newline` its line ending.
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
        """The source lines between the quotes, without indentation, line endings and trailing empty lines."""
        first, *others = [_bare(line) for line in lines_of(self.inner or "")] or [""]
        lines = [first.lstrip()]
        for line in others:
            is_blank = not line.strip() and not line.startswith(self.indent)
            lines.append(line.lstrip() if is_blank else line.removeprefix(self.indent))
        while lines and not lines[-1].strip():
            lines.pop()
        return lines

    def cooked(self) -> "DocstringPlace":
        """A raw literal turned into a plain one with escapes, which can hold any text."""
        plain = structs.replace(self, prefix="")
        return structs.replace(plain, inner=escaped(self.inner or "", plain))


def find_docstring(text: str, line: int, where: str) -> DocstringPlace:
    """The docstring of the function at `line` (from 1, decorators included). Raises `UsageError`."""
    function = find_function(text, line, where)
    starts = [0, *accumulate(map(len, lines_of(text)))]
    first = function.body[0]
    if first_line(first) <= max(function.lineno, _end_of_head(function)):
        hint = "move the body to its own lines"
        raise UsageError("has its body on the same line as its def", hint, where=where)
    begin = starts[first_line(first) - 1]
    column = _offset(text, begin, first.col_offset)
    indent, newline = text[begin:column], _end_of(text[starts[first_line(first) - 2] : begin])
    if indent.strip():
        raise UsageError("has two statements on one line", "put each on its own line", where=where)
    if ast.get_docstring(function, clean=False) is None:
        return DocstringPlace(begin, begin, indent, newline)
    literal: ast.expr = first.value  # type: ignore[attr-defined]
    assert literal.end_lineno is not None
    assert literal.end_col_offset is not None
    end = _offset(text, starts[literal.end_lineno - 1], literal.end_col_offset)
    prefix, quotes, inner = _taken_apart(text[column:end], where)
    newline = (_end_of(lines_of(inner)[0]) if inner else "") or newline
    return DocstringPlace(column, end, indent, newline, prefix, quotes, inner)


def code_of(text: str, line: int, where: str) -> str:
    """The source of the function that starts at `line`. Raises `UsageError` if there is none."""
    function = find_function(text, line, where)
    return "".join(lines_of(text)[line - 1 : function.end_lineno])


def written(place: DocstringPlace, lines: list[str]) -> str:
    """The literal with these lines, the first one right after the opening quotes.

    Lines come without the function's indentation. Unchanged lines stay the same to the byte.
    """
    quotes = place.quotes if len(place.quotes) == 3 or len(lines) == 1 else place.quotes * 3
    before, old = lines_of(place.inner or ""), place.lines
    # New indexes of unchanged lines and their old ones; the first line is compared separately.
    same = SequenceMatcher(None, old[1:], lines[1:], autojunk=False).get_matching_blocks()
    kept = {each.b + at + 1: each.a + at + 1 for each in same for at in range(each.size)}
    kept |= {0: 0} if old[:1] == lines[:1] else {}
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
    """Escape a text for use between the quotes; in raw literals it stays as it is."""
    if place.is_raw:
        return text
    quote = place.quotes[0]
    special = rf"\\|{quote}" if len(place.quotes) == 1 else rf"\\|{quote}{{3,}}|{quote}\Z"
    return re.sub(special, lambda found: "".join(f"\\{char}" for char in found[0]), text)


def wrapped(text: str, indent: int, further: str = "") -> list[str]:
    """Wrap the lines of a text at spaces; `further` is the indentation of continuation lines."""
    wrapper = textwrap.TextWrapper(
        WIDTH - indent,
        subsequent_indent=further,
        expand_tabs=False,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [each for line in text.split("\n") for each in wrapper.wrap(line) or [""]]


def lines_of(text: str) -> list[str]:
    """The lines of a text with their endings, split like Python source."""
    return _LINE.findall(text)


def find_function(text: str, line: int, where: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError("is not valid Python", str(error), where=where) from error
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and first_line(node) == line:
            return node
    hint = "a lambda, class or object has no docstring to edit: write an override file with --out"
    raise UsageError(f"there is no function at line {line}", hint, where=where)


def first_line(node: ast.stmt) -> int:
    """The line on which a statement starts, including decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *[each.lineno for each in decorators]])


def _end_of_head(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The last line of the arguments and the return annotation."""
    args = node.args
    parts = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg, node.returns]
    defaults = [*args.defaults, *args.kw_defaults]
    return max([each.end_lineno or 0 for each in (*parts, *defaults) if each is not None], default=0)


def _tail(place: DocstringPlace, lines: list[str]) -> str:
    """The text between the last line and the closing quotes."""
    if len(lines) == 1:
        return ""
    count = len(place.lines)
    if count < 2:
        return place.newline + place.indent
    before = lines_of(place.inner or "")
    return _end_of(before[count - 1]) + "".join(before[count:])


def _bare(line: str) -> str:
    return line.rstrip("\r\n")


def _end_of(line: str) -> str:
    return line[len(_bare(line)) :]


def _taken_apart(literal: str, where: str) -> tuple[str, str, str]:
    """Split a docstring into prefix, quotes and content. Raises `UsageError` for concatenated literals."""
    tokens = tokenize.generate_tokens(io.StringIO(f"({literal})").readline)
    found = _LITERAL.fullmatch(literal)
    if found is None or sum(token.type == tokenize.STRING for token in tokens) != 1:
        raise UsageError("has a docstring that is concatenated", "write it as one string", where=where)
    return found["prefix"], found["quotes"], found["inner"]


def _offset(text: str, start: int, column: int) -> int:
    """The offset of a column that is counted in UTF-8 bytes, as `ast` does."""
    before = text[start : start + column].encode("utf-8", "surrogatepass")[:column]
    return start + len(before.decode("utf-8", "ignore"))


DEEPER = "    "

_OF_PARAMETERS = re.compile(r"(args|arguments|parameters|params)\b", re.IGNORECASE)
_FIELD = re.compile(r"[:@]param\b")
_HEAD = re.compile(r"\s*[:@]param\s[^:]*:|\s*\*{0,2}\w+\s*(?:\([^)]*\))?\s*:")


def _put(lines: list[str], name: str, text: str, width: int) -> list[str]:
    """Replace or add a parameter's description in the style of its section; `width` is the indentation."""
    at = _entry_of(lines, name)
    if at is None:
        return _added(lines, name, text, width)
    deep = _depth(lines[at])
    end = at + 1
    for place in range(at + 1, len(lines)):  # an entry may continue after an empty line
        if lines[place].strip() and _depth(lines[place]) <= deep:
            break
        end = place + 1 if lines[place].strip() else end
    headings = [place for place in range(at) if begins_section(lines, place)]
    is_field = _FIELD.match(lines[at].strip())
    is_numpy = bool(headings) and not is_field and is_underlined(lines, headings[-1])
    return [*lines[:at], *_entry(lines[at], text, width, is_numpy), *lines[end:]]


def _entry(line: str, text: str, width: int, is_numpy: bool) -> list[str]:
    """An entry with new text; its first line starts like this one."""
    indent = line[: _depth(line)]
    if is_numpy:
        return [line, *wrapped(f"{indent}{DEEPER}{text}", width, indent + DEEPER)]
    head = _HEAD.match(line)
    return wrapped(f"{head[0] if head else f'{line.rstrip()}:'} {text}", width, indent + DEEPER)


def _entry_of(lines: list[str], name: str) -> int | None:
    """The index of the line on which a parameter's entry starts."""
    inside = False
    entry = re.compile(rf"\s*\*{{0,2}}{re.escape(name)}\s*(?:\([^)]*\))?\s*(:.*)?")
    field = re.compile(rf"\s*[:@]param\s+(?:[^:]*\s)?\*{{0,2}}{re.escape(name)}\s*:.*")
    for at, line in enumerate(lines):
        if field.fullmatch(line):
            return at
        if begins_section(lines, at):
            inside = bool(_OF_PARAMETERS.match(line))
        elif inside and entry.fullmatch(line) and _is_at_depth(lines, at):
            return at
    return None


def _is_at_depth(lines: list[str], at: int) -> bool:
    """Whether a line is indented no deeper than the first entry of its section."""
    begin = max(place for place in range(at) if begins_section(lines, place))
    first = begin + (2 if is_underlined(lines, begin) else 1)
    entries = [line for line in lines[first : at + 1] if line.strip()]
    return _depth(lines[at]) <= _depth(entries[0])


def _added(lines: list[str], name: str, text: str, width: int) -> list[str]:
    """Add an entry to the parameter section, or a new section if there is none."""
    headings = [at for at in range(len(lines)) if begins_section(lines, at)]
    begin = next((at for at in headings if _OF_PARAMETERS.match(lines[at])), None)
    field = next((at for at, line in enumerate(lines) if _FIELD.match(line)), None)
    if begin is not None and is_underlined(lines, begin):
        place, entry = begin + 2, [name, *wrapped(f"{DEEPER}{text}", width, DEEPER)]
    elif begin is not None:
        first = next((line for line in lines[begin + 1 :] if line.strip()), DEEPER)
        indent = first[: _depth(first)] or DEEPER
        place, entry = begin + 1, wrapped(f"{indent}{name}: {text}", width, indent + DEEPER)
    elif field is not None:
        place, entry = field, wrapped(f":param {name}: {text}", width, DEEPER)
    else:
        entry = wrapped(f"{DEEPER}{name}: {text}", width, DEEPER * 2)
        place, entry = 0, ["Args:", *entry, *([""] if lines else [])]
    return [*lines[:place], *entry, *lines[place:]]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


class DocstringChange(msgspec.Struct, frozen=True):
    """New wording for the function that starts at `line`."""

    line: int
    wording: Wording
    where: str


def rewrite(text: str, changes: Sequence[DocstringChange]) -> str:
    """Apply the changes to the text of a file. Raises `UsageError` if anything else would change."""
    lines = [change.line for change in changes]
    for twice in [change for change in changes if lines.count(change.line) > 1]:
        raise UsageError(
            "would get two descriptions at once", "name the function only once", where=twice.where
        )
    for change in sorted(changes, key=lambda change: change.line, reverse=True):  # keeps line numbers valid
        text = _edited(text, change)
    return text


def _edited(text: str, change: DocstringChange) -> str:
    place = find_docstring(text, change.line, change.where)
    for each in (place, place.cooked()) if place.is_raw else (place,):
        anew = text[: place.start] + written(each, _lines(each, change.wording)) + text[place.end :]
        if _is_right(text, anew, change):
            return anew
    hint = "edit it by hand, or write an override file with --out"
    raise UsageError("has a docstring that can't be edited automatically", hint, where=change.where)


def _is_right(text: str, anew: str, change: DocstringChange) -> bool:
    """Whether the new text has the new wording, and everything else is unchanged."""
    try:
        before, said = _docstring(text, change), _docstring(anew, change)
        if _without_docstring(text, change.line) != _without_docstring(anew, change.line):
            return False
    except (UsageError, SyntaxError, ValueError):
        return False
    found, wording = parse_docstring(inspect.cleandoc(said)), change.wording
    told = Wording(found.text, {name: found.parameters.get(name, "") for name in wording.parameters})
    return _others(before, wording) == _others(said, wording) and same_words(told, wording)


def _docstring(text: str, change: DocstringChange) -> str:
    place = find_docstring(text, change.line, change.where)
    return ast.literal_eval(text[place.start : place.end]) if place.inner is not None else ""


def _others(docstring: str, wording: Wording) -> dict[str, str]:
    """Descriptions of the parameters that the wording does not change."""
    told = parse_docstring(inspect.cleandoc(docstring)).parameters
    return {name: _plain(text) for name, text in told.items() if name not in wording.parameters}


def same_words(told: Wording, wanted: Wording) -> bool:
    """Whether all wanted descriptions are there, ignoring white space."""
    if wanted.description is not None and _plain(told.description) != _plain(wanted.description):
        return False
    return all(_plain(told.parameters.get(name)) == _plain(text) for name, text in wanted.parameters.items())


def _lines(place: DocstringPlace, wording: Wording) -> list[str]:
    """The new lines between the quotes, without the function's indentation."""
    before = place.lines
    end = next((at for at in range(len(before)) if begins_section(before, at)), len(before))
    width = len(place.indent.expandtabs(4))
    head = before[:end]
    if wording.description is not None:
        head = wrapped(escaped(wording.description, place), width + 3 * (end == len(before)))
        if head and place.inner is not None and re.match(r"\s*?\r?\n", place.inner):
            head = ["", *head]  # the text started on a line of its own
    rest = before[end:]
    for name, text in wording.parameters.items():
        rest = _put(rest, name, escaped(text, place), width)
    while head and not head[-1].strip():
        head.pop()
    gap = [""] if head and rest and any(head) else []
    return [*head, *gap, *rest] or [""]


def _without_docstring(text: str, line: int) -> str:
    tree = ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for node in functions:
        if first_line(node) == line and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def _plain(text: str | None) -> str:
    return " ".join((text or "").split())
