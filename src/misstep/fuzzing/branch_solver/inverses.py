"""Puts a changed part back into the argument that a tool's code extracted it from.

Each step of an extraction (an index, a split, JSON, CSV, a regex group, ...) has two directions: get the part
from the whole, and make a whole that contains another part. If the whole has the wrong type, a new one is
made.
"""

import ast
import base64
import csv
import io
import json
import os.path
import shlex
import urllib.parse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from misstep.fuzzing.branch_solver.regex import compiled, example, is_quick

FILLER = "a"
LONGEST_TABLE = 4_000  # characters or lines that can be parsed repeatedly


def rows_of(whole: Any, delimiter: str) -> list[list[str]]:
    return list(csv.reader(_lines(whole), delimiter=delimiter))


def put_rows(whole: Any, rows: list[Any], delimiter: str) -> Any:
    """The table with these rows. Rows as wide as the old header are filled to the width of the new one."""
    try:
        width = len(next(iter(rows_of(whole, delimiter)), []))
    except (csv.Error, TypeError, ValueError):
        width = 0
    head, *rest = rows or [[]]
    filled = [
        [*row, *[FILLER] * (len(head) - len(row))] if len(row) in (0, width) else row
        for row in rest or [[]]  # a table with a header is hardly ever empty
    ]
    return _written([head, *filled], whole, delimiter)


def objects_of(whole: Any, delimiter: str) -> list[dict[Any, Any]]:
    return list(csv.DictReader(_lines(whole), delimiter=delimiter))


def put_objects(whole: Any, objects: list[dict[Any, Any]], delimiter: str) -> Any:
    """The table with a column for every key that is a text."""
    names = dict.fromkeys(name for each in objects for name in each if isinstance(name, str))
    rows = [[each.get(name, FILLER) for name in names] for each in objects]
    return _written([list(names), *rows], whole, delimiter)


def _lines(whole: Any) -> Any:
    if len(whole) > LONGEST_TABLE:
        raise ValueError("too long")
    return whole if isinstance(whole, list) else io.StringIO(whole)


def _written(rows: list[list[Any]], whole: Any, delimiter: str) -> Any:
    """CSV as a text, or as a list of lines if the whole is one."""
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)
    text = file.getvalue().removesuffix("\n")
    return text.split("\n") if isinstance(whole, list) else text


MISSING: Any = object()
LONGEST = 100_000  # characters of a text that is parsed again
FARTHEST = 2_000  # largest index up to which values are padded

Step = tuple[str, str]


def seen(whole: Any, via: Sequence[Step]) -> Any:
    """What the code got after these steps; MISSING if unknown."""
    for step in via:
        whole = _get(whole, step)
    return whole


def replaced(whole: Any, via: Sequence[Step], part: Any) -> Any:
    """A whole from which these steps extract that part; MISSING if there is none."""
    if not via:
        return part
    (name, operands), *rest = via
    inner = replaced(_get(whole, via[0]), rest, part)
    if inner is MISSING:
        return MISSING
    put = _INVERSES[name][1] if name in _INVERSES else _keep
    try:
        return put(whole, inner, *json.loads(operands))
    except Exception:  # the new part does not fit the existing value
        return MISSING


def _get(whole: Any, step: Step) -> Any:
    if whole is MISSING or (isinstance(whole, str) and len(whole) > LONGEST):
        return MISSING
    name, operands = step
    try:
        get = _INVERSES[name][0] if name in _INVERSES else getattr(str, name)
        return get(whole, *json.loads(operands))
    except Exception:  # the code cannot have got here with this value
        return MISSING


def _text(whole: Any) -> str:
    return whole if isinstance(whole, str) else ""


def _put_at(whole: Any, part: Any, place: str | int) -> Any:
    if isinstance(place, str):
        return {**(whole if isinstance(whole, dict) else {}), place: part}
    if place > FARTHEST:
        return MISSING
    items = list(whole) if isinstance(whole, list) else []
    items += [FILLER] * (place + 1 - len(items))
    return [*items[:place], part, *items[place + 1 :]]


def _put_slice(whole: Any, part: Any, start: int, stop: int, step: int = 1) -> Any:
    if step != 1 or not 0 <= start <= FARTHEST:
        return MISSING
    if isinstance(part, list):
        items = list(whole) if isinstance(whole, list) else []
        items += [FILLER] * (start - len(items))
        return [*items[:start], *part, *items[max(start, stop) :]]
    text = _text(whole).ljust(start, FILLER)
    return text[:start] + part + text[max(start, stop) :]


def _put_divided(_: Any, parts: list[str], separator: str | None, *_most: int) -> str:
    return (separator or " ").join(parts)


def _put_partition(how: str, whole: Any, part: str, separator: str, place: int) -> str:
    parts = list(getattr(_text(whole), how)(separator))
    parts[place] = part
    if place != 1 and (how, place) != ("partition", 0):
        parts[1] = separator
    return "".join(parts)


def _put_url(whole: Any, part: str, name: str) -> str:
    parts = urllib.parse.urlparse(_text(whole))._replace(**{name: part})
    if name == "netloc" and not parts.scheme:
        parts = parts._replace(scheme="http")
    return parts.geturl()


def _get_group(whole: str, how: str, pattern: str, flags: int, group: int) -> Any:
    return getattr(compiled(pattern, flags), how)(whole)[group] if is_quick(pattern, whole) else MISSING


def _put_group(whole: Any, part: str, how: str, pattern: str, flags: int, group: int) -> Any:
    find = getattr(compiled(pattern, flags), how)
    match = find(_text(whole)) if is_quick(pattern, _text(whole)) else None
    if match is None:
        whole = example(pattern, flags)
        match = find(whole)
    return whole[: match.start(group)] + part + whole[match.end(group) :]


def _put_decoded(_: Any, part: Any) -> str:
    return base64.b64encode(part.encode() if isinstance(part, str) else b"").decode()


def _put_path_part(how: str, whole: Any, part: str, place: int) -> str:
    parts = list(getattr(os.path, how)(_text(whole)))
    parts[place] = part
    return "".join(parts) if how == "splitext" else os.path.join(*parts)


def _keep(_: Any, part: Any, *_operands: Any) -> Any:
    return part


def _quotient(part: Any, other: Any) -> Any:
    return part // other if isinstance(part, int) and part % other == 0 else part / other


# For each step: get the part, and put another one in.
_INVERSES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "at": (lambda whole, place: whole[place], _put_at),
    "slice": (lambda whole, *bounds: whole[slice(*bounds)], _put_slice),
    "append": (lambda whole, other: whole + other, lambda _, part, other: part.removesuffix(other)),
    "prepend": (lambda whole, other: other + whole, lambda _, part, other: part.removeprefix(other)),
    "removeprefix": (str.removeprefix, lambda _, part, prefix: prefix + part),
    "removesuffix": (str.removesuffix, lambda _, part, suffix: part + suffix),
    "changed": (lambda whole: whole, _keep),
    "json": (json.loads, lambda _, part: json.dumps(part)),
    "literal": (ast.literal_eval, lambda _, part: repr(part)),
    "base64": (base64.b64decode, _put_decoded),
    "decode": (bytes.decode, _keep),
    "unquote": (urllib.parse.unquote, lambda _, part: urllib.parse.quote(part)),
    "url": (lambda whole, name: getattr(urllib.parse.urlparse(whole), name), _put_url),
    "query": (urllib.parse.parse_qs, lambda _, part: urllib.parse.urlencode(part, doseq=True)),
    "csv rows": (rows_of, put_rows),
    "csv table": (objects_of, put_objects),
    "words": (shlex.split, lambda _, part: shlex.join(part)),
    "group": (_get_group, _put_group),
    "basename": (os.path.basename, lambda whole, part: os.path.join(os.path.dirname(_text(whole)), part)),
    "dirname": (os.path.dirname, lambda whole, part: os.path.join(part, os.path.basename(_text(whole)))),
    "path split": (lambda path, at: os.path.split(path)[at], partial(_put_path_part, "split")),
    "path splitext": (lambda path, at: os.path.splitext(path)[at], partial(_put_path_part, "splitext")),
    "add": (lambda whole, other: whole + other, lambda _, part, other: part - other),
    "radd": (lambda whole, other: other + whole, lambda _, part, other: part - other),
    "sub": (lambda whole, other: whole - other, lambda _, part, other: part + other),
    "rsub": (lambda whole, other: other - whole, lambda _, part, other: other - part),
    "mul": (lambda whole, other: whole * other, lambda _, part, other: _quotient(part, other)),
    "rmul": (lambda whole, other: other * whole, lambda _, part, other: _quotient(part, other)),
    "truediv": (lambda whole, other: whole / other, lambda _, part, other: part * other),
    "floordiv": (lambda whole, other: whole // other, lambda _, part, other: part * other),
    "mod": (lambda whole, other: whole % other, lambda whole, part, other: whole - whole % other + part),
    "neg": (lambda whole: -whole, lambda _, part: -part),
    "pos": (lambda whole: whole, _keep),
    "abs": (abs, _keep),
    "split": (str.split, _put_divided),
    "rsplit": (str.rsplit, _put_divided),
    "splitlines": (lambda whole, *_: whole.splitlines(), _put_divided),
    "partition": (lambda text, by, at: text.partition(by)[at], partial(_put_partition, "partition")),
    "rpartition": (lambda text, by, at: text.rpartition(by)[at], partial(_put_partition, "rpartition")),
}
