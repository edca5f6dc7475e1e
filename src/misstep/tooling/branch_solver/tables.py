"""How a row or a cell is put back into a table that is written as CSV."""

import csv
import io
from typing import Any

FILLER = "a"
LONGEST = 4_000  # characters of a text, or lines, that are worth taking apart again and again


def rows_of(whole: Any, delimiter: str) -> list[list[str]]:
    return list(csv.reader(_lines(whole), delimiter=delimiter))


def put_rows(whole: Any, rows: list[Any], delimiter: str) -> Any:
    """The table with these rows. Those that had as many cells as the first one have so again."""
    width = len(_first(whole, delimiter))
    head, *rest = rows or [[]]
    rest = rest or [[]]  # a table that has names for its columns is hardly ever empty
    filled = [_filled(row, len(head)) if len(row) in (0, width) else row for row in rest]
    return _written([head, *filled], whole, delimiter)


def objects_of(whole: Any, delimiter: str) -> list[dict[Any, Any]]:
    return list(csv.DictReader(_lines(whole), delimiter=delimiter))


def put_objects(whole: Any, objects: list[dict[Any, Any]], delimiter: str) -> Any:
    """The table with a column for every property that is a text."""
    names = dict.fromkeys(name for each in objects for name in each if isinstance(name, str))
    rows = [[each.get(name, FILLER) for name in names] for each in objects]
    return _written([list(names), *rows], whole, delimiter)


def _first(whole: Any, delimiter: str) -> list[str]:
    try:
        return next(iter(rows_of(whole, delimiter)), [])
    except (csv.Error, TypeError, ValueError):
        return []


def _filled(row: list[Any], width: int) -> list[Any]:
    return [*row, *[FILLER] * (width - len(row))]


def _lines(whole: Any) -> Any:
    if len(whole) > LONGEST:
        raise ValueError("too long")
    return whole if isinstance(whole, list) else io.StringIO(whole)


def _written(rows: list[list[Any]], whole: Any, delimiter: str) -> Any:
    """As a text, or as its lines where the whole is a list of those."""
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)
    text = file.getvalue().removesuffix("\n")
    return text.split("\n") if isinstance(whole, list) else text
