"""Proposes values where code has parsed an argument or matched it against a pattern."""

from collections.abc import Iterator
from datetime import datetime

from misstep.fuzzing.branch_solver.goals import BREAKS, FAR, ODD, BranchGoal, GoalMaker, Sight
from misstep.fuzzing.branch_solver.regex import VERY_OFTEN, beginnings, examples

NUMBERS = ("7", "0", "-1", "1", "999999999999999999999999", "1.5", "1e400", "nan", " 7 ", "1_0", "\u0663")

# Texts in each format: valid and harmless ones, then unusual or slightly wrong ones.
_FORMATS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "json": (
        ("{}", "[]", '"a"', "1"),
        ("null", "true", '""', "-1", "1e400", "[" * 100 + "]" * 100, "[{}]", "[null]"),
    ),
    "literal": (
        ("{}", "[]", "'a'", "1"),
        ("None", "()", "''", "b'a'", "{1}", "-1", "1j", "[" * 80 + "]" * 80),
    ),
    "url": (
        ("http://example.com/a?b=c#d", "https://example.com"),
        ("http://", "http://[::1", "http://a:99999/", "http://a:b/", "//", "http:///a", "mailto:a",
         "http://\u2100/"),
    ),
    "query": (("a=b&c=d", "a=1"), ("a", "=", "a=", "&&", "a=b&a=c", "%ff=%ff")),
    "base64": (("e30=", "YQ==", "eyJhIjogMX0="), ("", "/w==", "YQ", "a", "====", "\u00e9")),
    "xml": (
        ("<a/>", "<a b='c'>d</a>", "<a><b>c</b></a>"),
        ("<a>", "", "<a></a><b/>", "<a>&b;</a>", "<a>\x00</a>"),
    ),
    "uuid": (
        ("12345678-1234-5678-1234-567812345678",),
        ("00000000-0000-0000-0000-000000000000", "{" + "f" * 32 + "}", "1234", "urn:uuid:" + "1" * 32,
         "g" * 32),
    ),
    "csv": (("a,b\nc,d", "a,b,c"), ("", "\n", ",", '"', 'a,"b', "a\x00b", "a,b\nc", "a\rb", "a" * 140_000)),
    "words": (("a b", "a --b c"), ('"', "'", "\\", "", "a 'b")),
    "pattern": (("a", "."), ("(", "[", "*", "(?P<", "a{2,1}", "\\", "(?<=a+)", "(a+)+$", "")),
    "path": (
        ("a.txt", "a/b"),
        ("", ".", "..", "/", "a\x00b", "a" * 300, "\ud800", "~", "../a", "a/", "/dev/null"),
    ),
    "unquote": (("a%20b",), ("%", "%ff", "%00", "%zz")),
    "fromisoformat": (
        ("2024-02-29", "2024-02-29T12:30:45", "12:30:45", "2024-02-29T12:30:45+00:00",
         "2024-02-29T12:30:45Z"),
        ("0001-01-01", "9999-12-31", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999999-23:59",
         "20240229", "2024-W01-1"),
    ),
    "int": (("7",), ("0", "-1", "1", "9" * 24, " 7 ", "1_0", "\u0663", "-0", "+7", "9" * 5000)),
    "float": (("7",), ("0", "-1", "1.5", "nan", "inf", "-inf", "1e400", "1e-400", "-0.0", "1_0")),
    "complex": (("1j",), ("nan", "0", "1")),
    "Decimal": (
        ("7",),
        ("0", "-1", "1.5", "NaN", "sNaN", "Infinity", "-Infinity", "1E+999999", "1E-999999", "-0"),
    ),
    "Fraction": (("1/2",), ("1/0", "0", "-1", "7")),
}  # fmt: skip


def _format(sight: Sight) -> Iterator[BranchGoal]:
    good, awkward = _FORMATS[sight.operation]
    for place, text in enumerate(good):
        yield sight.opens + (place > 1), text
    for text in awkward:
        yield ODD if sight.passed else BREAKS, text


def _table(sight: Sight) -> Iterator[BranchGoal]:
    """CSV with the delimiter that the code uses."""
    separator = sight.operand if isinstance(sight.operand, str) and sight.operand else ","
    for rank, text in _format(sight):
        yield rank, text.replace(",", separator)


_DATES = (
    datetime(2024, 2, 29, 12, 30, 45),
    datetime(2023, 12, 31, 23, 59, 59, 999999),
    datetime(1970, 1, 1),
    datetime(9999, 12, 31, 23, 59, 59),
    datetime(1, 1, 1),
)


def _date(sight: Sight) -> Iterator[BranchGoal]:
    if not isinstance(sight.operand, str):
        return
    first, *others = [_written(date, sight.operand) for date in _DATES]
    yield sight.opens, first
    for other in others:
        yield BREAKS, other
    yield FAR, first + " "
    yield FAR, first.replace("29", "30")  # there is no such day


def _written(date: datetime, wanted: str) -> str:
    """Format the date; years are padded to four digits, which not every platform does."""
    try:
        return date.strftime(wanted.replace("%Y", f"{date.year:04}").replace("%z", "+0000"))
    except ValueError:
        return date.isoformat()


def _regex(sight: Sight) -> Iterator[BranchGoal]:
    pattern, flags = sight.operand
    found = examples(pattern, flags)
    for place, text in enumerate(found):
        yield BREAKS if len(text) >= VERY_OFTEN else sight.opens + min(place, 3), text
    for text in beginnings(pattern, flags):
        yield ODD, text
    if sight.operation != "fullmatch" and found:
        yield ODD, found[0] + "\n"


PARSING: dict[str, GoalMaker] = {
    **dict.fromkeys(_FORMATS, _format),
    "csv": _table,
    "strptime": _date,
    **dict.fromkeys(("match", "search", "fullmatch"), _regex),
}
