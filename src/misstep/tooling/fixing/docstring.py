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
from misstep.tooling.fixing.literal import Place, escaped, find_docstring, first_line, wrapped, written


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
    for each in (place, place.cooked()) if place.is_raw else (place,):
        anew = text[: place.start] + written(each, _lines(each, change.wording)) + text[place.end :]
        if _is_right(text, anew, change):
            return anew
    hint = "write it by hand, or use the override (--out)"
    raise UsageError("has a docstring into which these words can't be put", hint, where=change.where)


def _is_right(text: str, anew: str, change: Change) -> bool:
    """Whether the new words are said now, and nothing else is another."""
    try:
        before, said = _docstring(text, change), _docstring(anew, change)
        if _without_docstring(text, change.line) != _without_docstring(anew, change.line):
            return False
    except (UsageError, SyntaxError, ValueError):
        return False
    found, wording = parse_docstring(inspect.cleandoc(said)), change.wording
    told = Wording(found.text, {name: found.parameters.get(name, "") for name in wording.parameters})
    return _others(before, wording) == _others(said, wording) and same_words(told, wording)


def _docstring(text: str, change: Change) -> str:
    place = find_docstring(text, change.line, change.where)
    return ast.literal_eval(text[place.start : place.end]) if place.inner is not None else ""


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
    before = place.lines
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


def _without_docstring(text: str, line: int) -> str:
    """All that the code says but for that docstring."""
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
