"""Rows as CSV that spreadsheets open without running any of it.

A text that a spreadsheet would take for a formula gets an apostrophe in front, which shows the text as such.
Numbers are never touched: a negative one is a number still.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from misstep.core.transcript import storable
from misstep.interop.tables.rows import Row, columns

# Blanks in front don't keep a spreadsheet from reading a formula. One may stand after any line break too,
# where a program takes the break for the end of a row.
_FORMULA = re.compile(r"\A\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|\A[\t\r\n]")
_UNSEEN = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f]")


def csv_lines(kind: type[Row], rows: Iterable[Row]) -> Iterator[bytes]:
    """The head with the names of the columns, then a line for each row, in UTF-8 and with CRLF."""
    names = list(columns(kind))
    yield _line(names)
    for row in rows:
        yield _line([_cell(getattr(row, name)) for name in names])


def _line(cells: list[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    """Lists are JSON, as no separator is safe in names; nothing is an empty cell."""
    if isinstance(value, tuple):
        return harmless(json.dumps(value, ensure_ascii=False)) if value else ""
    if isinstance(value, bool):
        return str(value).lower()
    return harmless(value) if isinstance(value, str) else value


def harmless(text: str) -> str:
    text = _UNSEEN.sub("\ufffd", storable(text))
    return f"'{text}" if _FORMULA.match(text) else text
