"""What is wrong with the documentation of each tool, and how that shows."""

from pathlib import Path
from typing import Literal

import msgspec

from misstep.fuzzing.lint.subject import Fault

HERE = Path(__file__).parent

# An error at run time that a natural request leads to; requests that mean the same and get different answers, some
# of them wrong; answers that are all wrong; a remark without any model.
Way = Literal["runtime", "consistency", "lint"]


class Label(msgspec.Struct, frozen=True):
    """The fault of one tool: `what` it is, and every way by which it shows.

    `error` is what calls come to at run time, `at` is a piece of the line where. `remark` is the rule of the
    remark, where it is made.
    """

    tool: str
    fault: Fault
    what: str
    ways: tuple[Way, ...]
    error: str = ""
    at: str = ""
    remark: tuple[str, str] = ("", "")
    code: bool = False  # whether it is the code that is repaired


LABELS = (
    Label("print_label", "under", "length limit", ("runtime",), "IndexError", "FONTS[len"),
    Label(
        "track_order",
        "under",
        "prefix",
        ("runtime", "consistency", "lint"),
        "IndexError",
        "order.split",
        ("constraint", "parameters.order"),
    ),
    Label(
        "quote_shipping",
        "under",
        "incomplete enumeration",
        ("lint",),
        remark=("choices", "parameters.service"),
    ),
    Label(
        "average_visitors",
        "under",
        "relation between arguments",
        ("runtime",),
        "ZeroDivisionError",
        "visitors // days",
    ),
    Label("flight_time", "under", "unit", ("consistency",)),
    Label(
        "find_weekday",
        "under",
        "date format",
        ("runtime", "consistency", "lint"),
        "ValueError",
        "strptime(date",
        ("constraint", "parameters.date"),
    ),
    Label("check_exchange", "under", "time zone", ("consistency",)),
    Label(
        "count_people",
        "under",
        "scope",
        ("runtime", "consistency", "lint"),
        "ValueError",
        "only cities in Italy",
        ("choices", "parameters.city"),
    ),
    Label("search_notes", "under", "syntax", ("runtime",), "ValueError", "shlex.split(query"),
    Label("sum_up", "over", "one format of many", ("consistency",)),
    Label("measure_air", "over", "one city of many", ("consistency",)),
    Label("name_mood", "over", "one notation of many", ("consistency",)),
    Label(
        "find_percentage",
        "ill",
        "parameters swapped",
        ("runtime", "judge"),
        "ZeroDivisionError",
        "part // whole",
    ),
    Label("stopping_distance", "ill", "wrong unit", ("judge",)),
    Label(
        "find_flights",
        "ill",
        "wrong default",
        ("consistency", "judge", "lint"),
        remark=("default", "parameters.stops"),
    ),
    Label(
        "mix_paint",
        "ill",
        "value that is refused",
        ("runtime", "lint"),
        "KeyError",
        "PAINTS[colour]",
        ("choices", "parameters.colour"),
    ),
    Label(
        "find_chapter",
        "ill",
        "off by one",
        ("runtime", "judge"),
        "IndexError",
        "TITLES[number",
        code=True,
    ),
)
