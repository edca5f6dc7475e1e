"""Wishes where code has read a value as something in a format."""

from collections.abc import Callable, Iterator
from datetime import datetime

from misstep.tooling.branch_solver.regex import VERY_OFTEN, beginnings, examples
from misstep.tooling.branch_solver.sight import BREAKS, FAR, ODD, Sight, Wish

NUMBERS = ("7", "0", "-1", "1", "999999999999999999999999", "1.5", "1e400", "nan", " 7 ", "1_0", "\u0663")
_WHOLE = ("7", "0", "-1", "1", "999999999999999999999999", " 7 ", "1_0", "\u0663", "-0", "+7", "9" * 5000)
_REAL = ("7", "0", "-1", "1.5", "nan", "inf", "-inf", "1e400", "1e-400", "-0.0", "1_0")
_DECIMALS = ("7", "0", "-1", "1.5", "NaN", "sNaN", "Infinity", "-Infinity", "1E+999999", "1E-999999", "-0")
_FRACTIONS = ("1/2", "1/0", "0", "-1", "7")

_DATES = (
    datetime(2024, 2, 29, 12, 30, 45),
    datetime(2023, 12, 31, 23, 59, 59, 999999),
    datetime(1970, 1, 1),
    datetime(9999, 12, 31, 23, 59, 59),
    datetime(1, 1, 1),
)
_ISO = (
    "2024-02-29",
    "2024-02-29T12:30:45",
    "12:30:45",
    "2024-02-29T12:30:45+00:00",
    "2024-02-29T12:30:45Z",
    "0001-01-01",
    "9999-12-31",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59.999999-23:59",
    "20240229",
    "2024-W01-1",
)

# Texts in a format: such as are right and harmless, then such as are right and awkward or not quite right.
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
        (
            "http://",
            "http://[::1",
            "http://a:99999/",
            "http://a:b/",
            "//",
            "http:///a",
            "mailto:a",
            "http://\u2100/",
        ),
    ),
    "query": (("a=b&c=d", "a=1"), ("a", "=", "a=", "&&", "a=b&a=c", "%ff=%ff")),
    "base64": (("e30=", "YQ==", "eyJhIjogMX0="), ("", "/w==", "YQ", "a", "====", "\u00e9")),
    "xml": (
        ("<a/>", "<a b='c'>d</a>", "<a><b>c</b></a>"),
        ("<a>", "", "<a></a><b/>", "<a>&b;</a>", "<a>\x00</a>"),
    ),
    "uuid": (
        ("12345678-1234-5678-1234-567812345678",),
        (
            "00000000-0000-0000-0000-000000000000",
            "{" + "f" * 32 + "}",
            "1234",
            "urn:uuid:" + "1" * 32,
            "g" * 32,
        ),
    ),
    "csv": (("a,b\nc,d", "a,b,c"), ("", "\n", ",", '"', 'a,"b', "a\x00b", "a,b\nc", "a\rb", "a" * 140_000)),
    "words": (("a b", "a --b c"), ('"', "'", "\\", "", "a 'b")),
    "pattern": (("a", "."), ("(", "[", "*", "(?P<", "a{2,1}", "\\", "(?<=a+)", "(a+)+$", "")),
    "path": (
        ("a.txt", "a/b"),
        ("", ".", "..", "/", "a\x00b", "a" * 300, "\ud800", "~", "../a", "a/", "/dev/null"),
    ),
    "unquote": (("a%20b",), ("%", "%ff", "%00", "%zz")),
    "fromisoformat": (_ISO[:5], _ISO[5:]),
    "int": (_WHOLE[:1], _WHOLE[1:]),
    "float": (_REAL[:1], _REAL[1:]),
    "complex": (("1j",), ("nan", "0", "1")),
    "Decimal": (_DECIMALS[:1], _DECIMALS[1:]),
    "Fraction": (_FRACTIONS[:1], _FRACTIONS[1:]),
}


def _format(sight: Sight) -> Iterator[Wish]:
    good, awkward = _FORMATS[sight.operation]
    for place, text in enumerate(good):
        yield Wish(sight.opens + (place > 1), text, f"it is read as {sight.operation}: {_shown(text)}")
    rank = ODD if sight.passed else BREAKS
    for text in awkward:
        yield Wish(rank, text, f"it is read as {sight.operation}: {_shown(text)}")


def _table(sight: Sight) -> Iterator[Wish]:
    """CSV, with what separates its cells."""
    separator = sight.operand if isinstance(sight.operand, str) and sight.operand else ","
    for wish in _format(sight):
        yield wish._replace(value=wish.value.replace(",", separator))


def _shown(text: str) -> str:
    return ascii(text[:40])


def _date(sight: Sight) -> Iterator[Wish]:
    if not isinstance(sight.operand, str):
        return
    for place, date in enumerate(_DATES):
        rank = BREAKS if place else sight.opens
        yield Wish(rank, _written(date, sight.operand), f"it is read as a date: {sight.operand}")
    right = _written(_DATES[0], sight.operand)
    yield Wish(FAR, right + " ", f"it is read as a date: {sight.operand}; a space is behind")
    yield Wish(FAR, right.replace("29", "30"), f"it is read as a date: {sight.operand}; there is no such day")


def _written(date: datetime, wanted: str) -> str:
    """The date in the format; years have all of their digits, which not every system gives them."""
    try:
        return date.strftime(wanted.replace("%Y", f"{date.year:04}").replace("%z", "+0000"))
    except ValueError:
        return date.isoformat()


def _regex(sight: Sight) -> Iterator[Wish]:
    pattern, flags = sight.operand
    why = f"it is held against the pattern {pattern[:60]!r}"
    found = examples(pattern, flags)
    if not found and sight.matching:
        made = sight.matching(pattern)
        found = [made] if made is not None else []
    for place, text in enumerate(found):
        yield Wish(BREAKS if len(text) >= VERY_OFTEN else sight.opens + min(place, 3), text, why)
    for text in beginnings(pattern, flags):
        yield Wish(ODD, text, f"{why}; it ends before the last part")
    if sight.operation != "fullmatch" and found:
        yield Wish(ODD, found[0] + "\n", f"{why}; a line ends behind it")


WISHES: dict[str, Callable[[Sight], Iterator[Wish]]] = {
    **dict.fromkeys(_FORMATS, _format),
    "csv": _table,
    "strptime": _date,
    **dict.fromkeys(("match", "search", "fullmatch"), _regex),
}
