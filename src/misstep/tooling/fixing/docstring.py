"""Puts other words into the docstrings of functions, and leaves everything else in a file as it is."""

import ast
import inspect
import re
from collections.abc import Sequence

import msgspec

from misstep.core.descriptions import Wording
from misstep.core.docstring import begins_section, parse_docstring
from misstep.errors import UsageError
from misstep.tooling.fixing.entries import put_parameters
from misstep.tooling.fixing.literal import Place, escaped, find_docstring, wrapped, written


class Change(msgspec.Struct, frozen=True):
    """Other words for the function that begins at a line."""

    line: int
    wording: Wording
    where: str


def rewrite(text: str, changes: Sequence[Change]) -> str:
    """The text of a file with other words in its docstrings.

    A `UsageError` where that can't be done so that nothing but those words is another.
    """
    lines = [change.line for change in changes]
    for change in changes:
        if lines.count(change.line) > 1:
            hint = "name the function by one spec only"
            raise UsageError("would get two descriptions at once", hint, where=change.where)
    for change in sorted(changes, key=lambda change: change.line, reverse=True):  # so that lines stay true
        text = _edited(text, change)
    return text


def _edited(text: str, change: Change) -> str:
    place = find_docstring(text, change.line, change.where)
    literal = written(place, _lines(place, change.wording))
    anew = text[: place.start] + literal + text[place.end :]
    try:
        again = find_docstring(anew, change.line, change.where)
        said = ast.literal_eval(anew[again.start : again.end]) if again.inner is not None else ""
        is_same = _without_docstring(text, change.line) == _without_docstring(anew, change.line)
        before = ast.literal_eval(text[place.start : place.end]) if place.inner is not None else ""
    except (UsageError, SyntaxError, ValueError):
        said, before, is_same = "", "", False
    found = parse_docstring(inspect.cleandoc(said))
    is_same = is_same and _others(before, change.wording) == _others(said, change.wording)
    told = Wording(found.text, {name: found.parameters.get(name, "") for name in change.wording.parameters})
    if not is_same or not same_words(told, change.wording):
        hint = "write it by hand, or use the override (--out)"
        raise UsageError("has a docstring into which these words can't be put", hint, where=change.where)
    return anew


def _others(docstring: str, wording: Wording) -> dict[str, str]:
    """What is said about parameters for which there are no other words."""
    told = parse_docstring(inspect.cleandoc(docstring)).parameters
    return {name: _plain(text) for name, text in told.items() if name not in wording.parameters}


def same_words(told: Wording, wanted: Wording) -> bool:
    """Whether all that is wanted is told, however it is broken into lines."""
    if wanted.description is not None and _plain(told.description) != _plain(wanted.description):
        return False
    return all(_plain(told.parameters.get(name)) == _plain(text) for name, text in wanted.parameters.items())


def _lines(place: Place, wording: Wording) -> list[str]:
    """What stands between the quotes then, line by line, without the function's indentation."""
    before = _typed_lines(place)
    end = next((at for at in range(len(before)) if begins_section(before, at)), len(before))
    width = len(place.indent.expandtabs(4))
    head = before[:end]
    if wording.description is not None:
        head = wrapped(escaped(wording.description, place), width + 3 * (end == len(before)))
        if head and place.inner is not None and re.match(r"\s*?\r?\n", place.inner):
            head = ["", *head]  # the text began on a line of its own
    rest = before[end:]
    if wording.parameters:
        texts = {name: escaped(text, place) for name, text in wording.parameters.items()}
        rest = put_parameters(rest, texts, width)
    while head and not head[-1].strip():
        head.pop()
    gap = [""] if head and rest and any(head) else []
    return [*head, *gap, *rest] or [""]


def _typed_lines(place: Place) -> list[str]:
    """What stands between the quotes, as it was typed, without the indentation and the last empty lines."""
    if place.inner is None:
        return []
    first, *others = re.split(r"\r\n|\r|\n", place.inner)
    lines = [first.lstrip(), *[_dedented(line, place.indent) for line in others]]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def _dedented(line: str, indent: str) -> str:
    return line[len(indent) :] if line.startswith(indent) else line.lstrip() if not line.strip() else line


def _without_docstring(text: str, line: int) -> str:
    """All that the code says but for that docstring."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *[each.lineno for each in node.decorator_list]])
            if first == line and ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def _plain(text: str | None) -> str:
    return " ".join((text or "").split())
