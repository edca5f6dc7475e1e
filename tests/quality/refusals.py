"""Refusals of fitting arguments, each with whether it tells of a bug in the tool.

`REAL` holds what servers from the registries answered when they were fuzzed, some of it shortened: SQLite,
calculator, text editor, Excel, files, memory and time. The others are invented, by whoever wrote the rules. So the invented
ones guard against regressions, and only the real ones are an independent measurement: of false alarms, for none
of those refusals tells of a bug.
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
    "create_table": ("Create a new table in the SQLite database", {"query": {"type": "string"}}),
    "describe_table": (
        "Get the schema information for a specific table",
        {"table_name": {"type": "string"}},
    ),
    "calculate": ("Calculates/evaluates the given expression.", {"expression": {"type": "string"}}),
    "edit_text_file_contents": ("Edit text file contents.", {"files": {"type": "array"}}),
    "create_sheet": (
        "Add a worksheet.",
        {"path": {"type": "string"}, "sheet": {"type": "string"}, "position": {"type": "integer"}},
    ),
    "import_workbook": ("Save an uploaded workbook.", {"content_base64": {"type": "string"}}),
    "trace_formula": ("Trace what a formula depends on.", {"cell": {"type": "string"}}),
    "add_slicer": ("Add a slicer to a table.", {"width_cm": {"type": "number"}}),
    "move_file": (
        "Move or rename files and directories.",
        {"source": {"type": "string"}, "destination": {"type": "string"}},
    ),
    "read_text_file": (
        "Read the complete contents of a file from the file system as text.",
        {"path": {"type": "string"}, "head": {"type": "number"}, "tail": {"type": "number"}},
    ),
    "add_observations": ("Add new observations to existing entities.", {"observations": {"type": "array"}}),
    "convert_time": (
        "Convert time between timezones",
        {"source_timezone": {"type": "string"}, "time": {"type": "string"}},
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
    "create_table": {"query": "solar panels"},
    "describe_table": {"table_name": "Yuki Tanaka"},
    "calculate": {"expression": "Oslo"},
    "edit_text_file_contents": {"files": [{"path": "images/logo.png", "patches": []}]},
    "create_sheet": {"path": "(", "sheet": "Sum", "position": 0},
    "import_workbook": {"content_base64": "lantern"},
    "trace_formula": {"cell": "lantern"},
    "add_slicer": {"width_cm": 0.0},
    "move_file": {"source": " ", "destination": "Oslo"},
    "read_text_file": {"path": "notes.md", "head": 3, "tail": 3},
    "add_observations": {"observations": [{"entityName": "Nina Petrov", "contents": []}]},
    "convert_time": {"source_timezone": "", "time": "noon"},
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

REAL = _all(
    False,
    """
create_table | - | Error: Only CREATE TABLE statements are allowed
describe_table | - | Database error: near ")": syntax error
describe_table | - | Database error: near "Tanaka": syntax error
describe_table | - | Database error: unrecognized token: ":"
describe_table | - | Database error: incomplete input
calculate | - | Error executing tool calculate: Unknown identifier: Oslo
calculate | - | Error executing tool calculate: invalid character '😀' (U+1F600) (<unknown>, line 1)
edit_text_file_contents | - | Error executing command: Error processing request: File path must be absolute: images/logo.png
create_sheet | - | Error executing tool create_sheet: Path '(' must be absolute, e.g. 'C:\\Reports\\q1.xlsx' or '/home/me/q1.xlsx'.
create_sheet | - | Error executing tool create_sheet: Path must be a non-empty file system path.
create_sheet | - | Error executing tool create_sheet: Path '/' must point to an Excel file (.xlsm, .xlsx, .xltm, .xltx).
create_sheet | - | Error executing tool create_sheet: Invalid arguments for create_sheet: position: must be at least 1
import_workbook | - | Error executing tool import_workbook: content_base64 is not valid base64.
import_workbook | - | Error executing tool import_workbook: The uploaded content is not an .xlsx/.xlsm workbook.
trace_formula | - | Error executing tool trace_formula: Invalid range 'lantern'. Use A1 notation such as 'B2' or 'A1:C10'.
trace_formula | - | Error executing tool trace_formula: Range '' must have explicit rows and columns, such as 'A1:C10'.
add_slicer | - | Error executing tool add_slicer: Invalid arguments for add_slicer: - width_cm: must be greater than 0.0
move_file | - | ENOENT: no such file or directory, rename '/data/ ' -> '/data/Oslo'
move_file | - | Access denied - path outside allowed directories: /Lisb{on not in /data
move_file | - | ENOTDIR: not a directory, realpath '/data/src/main.py'
read_text_file | - | Cannot specify both head and tail parameters simultaneously
read_text_file | - | ENOENT: no such file or directory, open '/data/notes.md'
read_text_file | - | EISDIR: illegal operation on a directory, read
add_observations | - | Entity with name Nina Petrov not found
convert_time | - | Error executing tool convert_time: Invalid timezone: 'No time zone found with key '
convert_time | - | Error executing tool convert_time: Invalid time format. Expected HH:MM [24-hour format]
convert_time | - | Error executing tool convert_time: Missing required argument: target_timezone
convert_time | - | Error executing tool convert_time: Invalid timezone: embedded null byte
""",
)
