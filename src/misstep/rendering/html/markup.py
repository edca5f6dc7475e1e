"""Builds HTML and SVG elements that escape their text, and tables."""

import html
import re
from collections.abc import Iterable, Sequence

import msgspec

from misstep.rendering.text import plain, plain_lines

_NOT_XML = re.compile("[\ufffe\uffff]")
_EMPTY = {"br", "circle", "line", "link", "meta", "path", "polygon", "polyline", "rect"}
LONGEST = 2_000


class Markup(msgspec.Struct, frozen=True):
    """Markup that can be written out as it is; a plain `str` never is."""

    source: str


def text(content: str, most: int = LONGEST) -> Markup:
    """An escaped text on one line, limited in length."""
    return Markup(_escape(plain(content, most)))


def lines(content: str, most: int = 20_000) -> Markup:
    """The same for a text that keeps its line breaks."""
    return Markup(_escape(plain_lines(content, most)))


def element(name: str, /, *children: Markup | str, **attributes: str | float) -> Markup:
    """An element; children and attributes that are text are escaped.

    Attributes are written as keywords: `class_` is class, `stroke_width` is stroke-width. Empty ones are left
    out.
    """
    named = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value != ""}
    given = "".join(f' {key}="{_value(value)}"' for key, value in named.items())
    inside = together(*children).source
    return Markup(f"<{name}{given}{'/>' if name in _EMPTY else f'>{inside}</{name}>'}")


def together(*parts: Markup | str) -> Markup:
    return Markup("".join((text(part) if isinstance(part, str) else part).source for part in parts))


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return _escape(plain(value, len(value)))
    return f"{value:.1f}".removesuffix(".0")


def _escape(content: str) -> str:
    return html.escape(_NOT_XML.sub("\ufffd", content))


Cell = Markup | str


class Row(msgspec.Struct, frozen=True):
    """Cells; `style` is a class of the style sheet."""

    cells: Sequence[Cell]
    style: str = ""


def grid(headings: Sequence[str], rows: Iterable[Row], names: int = 1, caption: str = "") -> Markup:
    """A table whose first `names` columns hold names, and all others numbers."""
    head = element("tr", *_cells("th", headings, names))
    body = [element("tr", *_cells("td", row.cells, names), class_=row.style) for row in rows]
    shown = plain(caption, 500)
    said = [element("p", shown, class_="caption")] if shown else []
    table = element("table", element("thead", head), element("tbody", *body), aria_label=shown)
    return together(*said, element("div", table, class_="scroll"))


def pairs(rows: Iterable[tuple[str, Cell]]) -> Markup:
    return element("dl", *(together(element("dt", name), element("dd", value)) for name, value in rows))


def tiles(rows: Iterable[tuple[str, Cell]]) -> Markup:
    parts = (element("div", element("dt", name), element("dd", value)) for name, value in rows)
    return element("dl", *parts, class_="tiles")


def _cells(name: str, cells: Sequence[Cell], names: int) -> list[Markup]:
    kinds = ["name" if column < names else "number" for column in range(len(cells))]
    return [element(name, cell, class_=kind) for cell, kind in zip(cells, kinds, strict=True)]
