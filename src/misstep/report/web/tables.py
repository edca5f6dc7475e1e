"""Tables in a page."""

from collections.abc import Iterable, Sequence

import msgspec

from misstep.report.text import plain
from misstep.report.web.markup import Markup, element, together

Cell = Markup | str


class Row(msgspec.Struct, frozen=True):
    """Cells; `style` is a class of the style sheet."""

    cells: Sequence[Cell]
    style: str = ""


def grid(headings: Sequence[str], rows: Iterable[Row], names: int = 1, caption: str = "") -> Markup:
    """A table whose first columns hold `names`, and all others numbers."""
    head = element("tr", *_cells("th", headings, names))
    body = [element("tr", *_cells("td", row.cells, names), class_=row.style) for row in rows]
    shown = plain(caption, 500)
    said = [element("p", shown, class_="caption")] if shown else []
    table = element("table", element("thead", head), element("tbody", *body), aria_label=shown)
    return together(*said, element("div", table, class_="scroll"))


def pairs(rows: Iterable[tuple[str, Cell]]) -> Markup:
    """Names with what they stand for."""
    return element(
        "dl", *(part for name, value in rows for part in (element("dt", name), element("dd", value)))
    )


def tiles(rows: Iterable[tuple[str, Cell]]) -> Markup:
    """The same side by side."""
    return element(
        "dl",
        *(element("div", element("dt", name), element("dd", value)) for name, value in rows),
        class_="tiles",
    )


def _cells(name: str, cells: Sequence[Cell], names: int) -> list[Markup]:
    kinds = ["name" if column < names else "number" for column in range(len(cells))]
    return [element(name, cell, class_=kind) for cell, kind in zip(cells, kinds, strict=True)]
