"""Replaces descriptions of tools and parameters in docstrings, and leaves the rest of a file unchanged.

Google, NumPy and Sphinx styles are kept. Every edit is checked: only the docstring may differ afterwards.
"""

import ast
import inspect
import re
from collections.abc import Sequence

import msgspec

from misstep.core.results.fixing import Wording
from misstep.errors import UsageError
from misstep.fuzzing.descriptions.literal import (
    DocstringPlace,
    escaped,
    find_docstring,
    first_line,
    wrapped,
    written,
)
from misstep.schemas.source import begins_section, is_underlined, parse_docstring

DEEPER = "    "

_OF_PARAMETERS = re.compile(r"(args|arguments|parameters|params)\b", re.IGNORECASE)
_FIELD = re.compile(r"[:@]param\b")
_HEAD = re.compile(r"\s*[:@]param\s[^:]*:|\s*\*{0,2}\w+\s*(?:\([^)]*\))?\s*:")


def _put(lines: list[str], name: str, text: str, width: int) -> list[str]:
    """Replace or add the description of a parameter, in the style of the section; others stay.

    `width` is the indentation that all lines will get.
    """
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
    if begin is None:
        fields = [at for at, line in enumerate(lines) if _FIELD.match(line)]
        if fields:
            return [
                *lines[: fields[0]],
                *wrapped(f":param {name}: {text}", width, DEEPER),
                *lines[fields[0] :],
            ]
        section = ["Args:", *wrapped(f"{DEEPER}{name}: {text}", width, DEEPER * 2)]
        return [*section, *([""] if lines else []), *lines]
    if is_underlined(lines, begin):
        entry = [name, *wrapped(f"{DEEPER}{text}", width, DEEPER)]
        return [*lines[: begin + 2], *entry, *lines[begin + 2 :]]
    first = next((line for line in lines[begin + 1 :] if line.strip()), DEEPER)
    indent = first[: _depth(first)] or DEEPER
    entry = wrapped(f"{indent}{name}: {text}", width, indent + DEEPER)
    return [*lines[: begin + 1], *entry, *lines[begin + 1 :]]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


class DocstringChange(msgspec.Struct, frozen=True):
    """New wording for the function that starts at `line`."""

    line: int
    wording: Wording
    where: str


def rewrite(text: str, changes: Sequence[DocstringChange]) -> str:
    """Apply the changes to the text of a file.

    Raises `UsageError` if a docstring cannot be replaced without changing something else.
    """
    lines = [change.line for change in changes]
    for change in changes:
        if lines.count(change.line) > 1:
            hint = "name the function by one spec only"
            raise UsageError("would get two descriptions at once", hint, where=change.where)
    for change in sorted(changes, key=lambda change: change.line, reverse=True):  # keeps line numbers valid
        text = _edited(text, change)
    return text


def _edited(text: str, change: DocstringChange) -> str:
    place = find_docstring(text, change.line, change.where)
    for each in (place, place.cooked()) if place.is_raw else (place,):
        anew = text[: place.start] + written(each, _lines(each, change.wording)) + text[place.end :]
        if _is_right(text, anew, change):
            return anew
    hint = "write it by hand, or use the override (--out)"
    raise UsageError("has a docstring into which these words can't be put", hint, where=change.where)


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
    if wording.parameters:
        texts = {name: escaped(text, place) for name, text in wording.parameters.items()}
        for name, text in texts.items():
            rest = _put(rest, name, text, width)
    while head and not head[-1].strip():
        head.pop()
    gap = [""] if head and rest and any(head) else []
    return [*head, *gap, *rest] or [""]


def _without_docstring(text: str, line: int) -> str:
    """The code without that docstring, as an AST dump."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and first_line(node) == line
            and ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def _plain(text: str | None) -> str:
    return " ".join((text or "").split())
