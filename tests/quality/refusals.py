"""Refusals of fitting arguments, each with whether it tells of a bug in the tool.

A few of the ordinary ones are answers of real servers (see tests/tooling/judging/answers.py); the others are
invented, by whoever wrote the rules. So the set guards against regressions, and is no independent measurement.
"""

from typing import Any

import msgspec

TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "set_level": ("Set the volume of a speaker.", {"level": {"type": "integer"}}),
    "get_weather": ("Current weather of a city.", {"city": {"type": "string"}}),
    "read_file": ("Read a file of the workspace.", {"path": {"type": "string"}}),
    "transfer": (
        "Transfer money between two accounts.",
        {"source": {"type": "string"}, "target": {"type": "string"}, "amount": {"type": "number"}},
    ),
    "search_orders": ("Find orders of a customer.", {"query": {"type": "string"}}),
    "book_table": (
        "Book a table in a restaurant.",
        {"when": {"type": "string"}, "guests": {"type": "integer"}},
    ),
    "read_crash_report": ("Show a crash report of the app.", {"report": {"type": "string"}}),
    "add_handler": ("Register a handler for an event.", {"event": {"type": "string"}}),
    "write_cells": (
        "Write cells of a sheet of a workbook.",
        {"filepath": {"type": "string"}, "sheet_name": {"type": "string"}, "start_cell": {"type": "string"}},
    ),
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "set_level": {"level": 7},
    "get_weather": {"city": "Atlantis"},
    "read_file": {"path": "notes/a.txt"},
    "transfer": {"source": "A-1", "target": "B-2", "amount": 50.0},
    "search_orders": {"query": "open"},
    "book_table": {"when": "2026-02-30", "guests": 40},
    "read_crash_report": {"report": "r1"},
    "add_handler": {"event": "click"},
    "write_cells": {"filepath": "b.xlsx", "sheet_name": "Sum", "start_cell": "ZZZZ1"},
}


class Labelled(msgspec.Struct, frozen=True):
    """A refusal; `error` is the type of the exception in a tool whose code is seen, empty for a server."""

    suspicious: bool
    tool: str
    message: str
    error: str = ""


def _all(suspicious: bool, rows: str) -> list[Labelled]:
    parts = [row.split(" | ", 2) for row in rows.strip().splitlines()]
    return [Labelled(suspicious, tool, message, error.strip("-")) for tool, error, message in parts]


SUSPICIOUS = _all(
    True,
    """
set_level | RuntimeError | level handler crashed
set_level | ValueError | empty range for min()
set_level | ValueError | empty range for randrange()
set_level | RuntimeError | internal error 17
set_level | - | Error: internal state is inconsistent
get_weather | ValueError | corrupt cache
get_weather | RuntimeError | station index is corrupted
get_weather | RuntimeError | assertion failed: rows
get_weather | - | Error: an unexpected error occurred
get_weather | - | Something went wrong
get_weather | - | Oops! Something went wrong. Please try again later.
get_weather | RuntimeError | shard 7 lags behind
get_weather | RuntimeError | failed
get_weather | Exception | An error occurred
read_file | ValueError | this should never happen
read_file | RuntimeError | unreachable code
read_file | OSError | unexpected failure
read_file | ValueError | self._root is None
read_file | - | Failed to process request
transfer | RuntimeError | ledger invariant violated
transfer | ValueError | max() arg is empty
transfer | Exception | unhandled case
transfer | RuntimeError | impossible state
search_orders | RuntimeError | worker died
search_orders | ValueError | handler returned nothing
search_orders | - | Error: list index out of bounds in the result set
search_orders | - | Error: internal cache failure
search_orders | LookupError | <Cursor object at 0x7f31a0c2d5e0>
book_table | RuntimeError | callback raised
book_table | RuntimeError | deadlock
book_table | - | Operation failed.
write_cells | - | Error: unexpected exception
""",
)

ORDINARY = _all(
    False,
    """
set_level | ValueError | level must be between 0 and 5
set_level | ValueError | must be positive
set_level | ValueError | too loud
set_level | - | Error: 7 is not allowed
set_level | ValueError | out of range
get_weather | ValueError | unknown city
get_weather | KeyError | no city called 'Atlantis'
get_weather | LookupError | nobody has heard of this place
get_weather | RuntimeError | no weather station nearby
get_weather | - | Error: no data available
get_weather | Exception | Invalid location
get_weather | - | Not found
read_file | FileNotFoundError | not found
read_file | ValueError | Access denied - path outside allowed directories: /etc/passwd not in /data
read_file | ValueError | that is a folder
read_file | - | Error: ENOENT: no such file or directory, open '/data/notes/a.txt'
read_file | - | EISDIR: illegal operation on a directory, read
read_file | ValueError | The file is corrupt
read_file | ValueError | unexpected end of file
read_file | ValueError | invalid start byte
transfer | ValueError | insufficient funds
transfer | RuntimeError | Account is frozen
transfer | ValueError | source and target must differ
transfer | PermissionError | not allowed on Sundays
transfer | - | Error: the daily limit is exceeded
transfer | RuntimeError | already transferred today
search_orders | ValueError | unexpected token ')' at position 3
search_orders | - | Error: please give at least two words
search_orders | - | No results
search_orders | ValueError | Ref 'zzz' did not resolve to an object
book_table | ValueError | day is out of range for month
book_table | ValueError | we are closed on Mondays
book_table | RuntimeError | no table is free
book_table | - | Error: Invalid time format. Expected HH:MM [24-hour format]
book_table | ValueError | thirteen brings bad luck
read_crash_report | ValueError | crash report not found
read_crash_report | RuntimeError | the app has not crashed
add_handler | ValueError | handler already registered
add_handler | RuntimeError | no handler takes this event
write_cells | - | Error: Sheet 'Sum' not found
write_cells | - | Error: Invalid start cell format: ZZZZ1
write_cells | - | Error: Failed to load workbook: File not found: b.xlsx
write_cells | - | Error: [Errno 2] No such file or directory: 'b.xlsx'
write_cells | - | Entity with name zz not found
write_cells | - | Cannot specify both head and tail parameters simultaneously
write_cells | - | Error: Could not find exact match for edit
""",
)
