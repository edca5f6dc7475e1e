"""Proposes values where code has parsed an argument, searched it, or split it into parts."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from misstep.fuzzing.branch_solver.inverses import FILLER
from misstep.fuzzing.branch_solver.regex import VERY_OFTEN, beginnings, examples
from misstep.fuzzing.branch_solver.sight import BREAKS, EDGE, FAR, ODD, PASSES, BranchGoal, Sight

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


def _format(sight: Sight) -> Iterator[BranchGoal]:
    good, awkward = _FORMATS[sight.operation]
    for place, text in enumerate(good):
        yield BranchGoal(sight.opens + (place > 1), text, f"it is read as {sight.operation}: {_shown(text)}")
    rank = ODD if sight.passed else BREAKS
    for text in awkward:
        yield BranchGoal(rank, text, f"it is read as {sight.operation}: {_shown(text)}")


def _table(sight: Sight) -> Iterator[BranchGoal]:
    """CSV with the delimiter that the code uses."""
    separator = sight.operand if isinstance(sight.operand, str) and sight.operand else ","
    for goal in _format(sight):
        yield goal._replace(value=goal.value.replace(",", separator))


def _shown(text: str) -> str:
    return ascii(text[:40])


def _date(sight: Sight) -> Iterator[BranchGoal]:
    if not isinstance(sight.operand, str):
        return
    for place, date in enumerate(_DATES):
        rank = BREAKS if place else sight.opens
        yield BranchGoal(rank, _written(date, sight.operand), f"it is read as a date: {sight.operand}")
    right = _written(_DATES[0], sight.operand)
    yield BranchGoal(FAR, right + " ", f"it is read as a date: {sight.operand}; a space is behind")
    yield BranchGoal(
        FAR, right.replace("29", "30"), f"it is read as a date: {sight.operand}; there is no such day"
    )


def _written(date: datetime, wanted: str) -> str:
    """Format the date; years are padded to four digits, which not every platform does."""
    try:
        return date.strftime(wanted.replace("%Y", f"{date.year:04}").replace("%z", "+0000"))
    except ValueError:
        return date.isoformat()


def _regex(sight: Sight) -> Iterator[BranchGoal]:
    pattern, flags = sight.operand
    why = f"it is held against the pattern {pattern[:60]!r}"
    found = examples(pattern, flags)
    if not found and sight.matching:
        made = sight.matching(pattern)
        found = [made] if made is not None else []
    for place, text in enumerate(found):
        yield BranchGoal(BREAKS if len(text) >= VERY_OFTEN else sight.opens + min(place, 3), text, why)
    for text in beginnings(pattern, flags):
        yield BranchGoal(ODD, text, f"{why}; it ends before the last part")
    if sight.operation != "fullmatch" and found:
        yield BranchGoal(ODD, found[0] + "\n", f"{why}; a line ends behind it")


PARSING: dict[str, Callable[[Sight], Iterator[BranchGoal]]] = {
    **dict.fromkeys(_FORMATS, _format),
    "csv": _table,
    "strptime": _date,
    **dict.fromkeys(("match", "search", "fullmatch"), _regex),
}


LONGEST = 2_000  # items or characters that a value is padded to

# Values for a property: first what most code accepts, then what it least expects.
_VALUES: tuple[Any, ...] = ("a", 1, {}, [], None, True, "", -1, 1.5, ["a"], {"a": 1}, "7")


def _beginning(sight: Sight) -> Iterator[BranchGoal]:
    for prefix in _texts(sight.operand):
        why = f"the code asks whether it begins with {prefix!r}"
        if not sight.text.startswith(prefix):
            yield BranchGoal(sight.opens, prefix + sight.text, why)
        for rest in ("", "   ", prefix):
            yield BranchGoal(BREAKS, prefix + rest, f"{why}; {_said(rest)} follows")
        yield BranchGoal(ODD, prefix + prefix + sight.text, f"{why}; it does so twice")
        yield BranchGoal(FAR, " " + prefix + sight.text, f"{why}; a space is in front")
        yield BranchGoal(FAR, prefix[:-1], f"{why}; it does so but for a character")


def _ending(sight: Sight) -> Iterator[BranchGoal]:
    for suffix in _texts(sight.operand):
        why = f"the code asks whether it ends with {suffix!r}"
        if not sight.text.endswith(suffix):
            yield BranchGoal(sight.opens, sight.text + suffix, why)
        for rest in ("", "   ", suffix):
            yield BranchGoal(BREAKS, rest + suffix, f"{why}; {_said(rest)} comes before")
        yield BranchGoal(FAR, sight.text + suffix + " ", f"{why}; a space is behind")


def _said(rest: str) -> str:
    return "the same" if rest.strip() else "nothing but spaces" if rest else "nothing"


def _texts(operand: Any) -> list[str]:
    given = operand if isinstance(operand, list) else [operand]
    return [text for text in given if isinstance(text, str) and text]


def _part(sight: Sight) -> Iterator[BranchGoal]:
    if isinstance(sight.now, list):
        yield BranchGoal(
            sight.opens, [*sight.items, sight.operand], f"the code looks for {sight.operand!r} in it"
        )
        yield BranchGoal(BREAKS, [sight.operand], f"there is nothing but {sight.operand!r}")
        return
    separator = sight.operand if isinstance(sight.operand, str) else " "
    if not separator:
        return
    text, why = sight.text, f"the code looks for {separator!r} in it"
    if separator not in text:
        yield BranchGoal(sight.opens, f"{text}{separator}{text}", why)
    yield BranchGoal(BREAKS, separator, f"{why}; nothing stands around it")
    yield BranchGoal(BREAKS, f"{text.split(separator)[0]}{separator}", f"{why}; nothing follows")
    yield BranchGoal(BREAKS, f"{separator}{text.split(separator)[-1]}", f"{why}; nothing comes before")
    yield BranchGoal(EDGE, f"{text}{separator}{separator}{text}", f"{why}; it is there twice in a row")
    first = text.split(separator)[0] or FILLER
    yield BranchGoal(EDGE, f"{text}{separator}{first}{separator}{first}", f"{why}; it is there more often")
    if separator in text:
        yield BranchGoal(BREAKS, text.replace(separator, ""), f"{why}; it is not there any more")


def _unpacking(sight: Sight) -> Iterator[BranchGoal]:
    wanted = int(sight.operand)
    items = sight.items or (list(sight.text) if isinstance(sight.now, str) else [])
    filled = [*items, *[FILLER] * wanted][:wanted]
    yield from _sized(sight, filled, wanted, f"it is taken apart into {wanted}")
    for place in range(min(wanted, 6)):
        empty = [*filled[:place], "", *filled[place + 1 :]]
        yield _joined(
            sight, BranchGoal(BREAKS, empty, f"it is taken apart into {wanted}; number {place + 1} is empty")
        )


def _sized(sight: Sight, items: list[Any], wanted: int, why: str) -> Iterator[BranchGoal]:
    yield _joined(sight, BranchGoal(sight.opens, items, why))
    yield _joined(sight, BranchGoal(EDGE, items[: max(wanted - 1, 0)], f"{why}; here is one less"))
    yield _joined(sight, BranchGoal(EDGE, [*items, FILLER], f"{why}; here is one more"))
    yield _joined(sight, BranchGoal(BREAKS if sight.passed else EDGE, [], f"{why}; here is nothing"))


def _joined(sight: Sight, goal: BranchGoal) -> BranchGoal:
    """The wish with its value joined to a text, if the original value is one."""
    if isinstance(sight.now, str) and isinstance(goal.value, list):
        return goal._replace(value="".join(str(item) for item in goal.value))
    return goal


def _place(sight: Sight) -> Iterator[BranchGoal]:
    place, _ = sight.operand
    wanted = place + 1 if place >= 0 else -place
    if wanted > LONGEST:
        return
    items = list(sight.now) if isinstance(sight.now, str | list) else []
    enough = [*items, *[FILLER] * (wanted - len(items))]
    why = f"the code wants what stands at {place}"
    yield _joined(sight, BranchGoal(sight.opens, enough, why))
    yield _joined(sight, BranchGoal(BREAKS, items[: wanted - 1], f"{why}; it ends just before"))
    yield _joined(sight, BranchGoal(BREAKS, [], f"{why}; there is nothing"))


def _length(sight: Sight) -> Iterator[BranchGoal]:
    sign, bound = sight.operand
    if not 0 <= bound <= LONGEST or not isinstance(sight.now, str | list):
        return
    for length, rank in ((bound, PASSES), (bound + 1, PASSES), (bound - 1, EDGE)):
        if length >= 0:
            why = f"its length is compared: {sign} {bound}; here it is {length}"
            for place, items in enumerate(_of_length(list(sight.now), length)):
                yield _joined(sight, BranchGoal(EDGE + place if sight.passed else rank + place, items, why))


def _of_length(items: list[Any], length: int) -> Iterator[list[Any]]:
    """The items cut or padded to a length: at the end, at the beginning, in the middle."""
    more, less = [FILLER] * (length - len(items)), max(len(items) - length, 0)
    yield [*items[: len(items) - less], *more]
    if items:
        yield [*more, *items[less:]]
        middle = (len(items) - less) // 2
        yield [*items[:middle], *more, *items[middle + less :]]


def _key(sight: Sight) -> Iterator[BranchGoal]:
    name, properties = str(sight.operand), sight.properties
    if name in properties:
        without = {key: value for key, value in properties.items() if key != name}
        yield BranchGoal(BREAKS, without, f"the code wants {name!r}; it is not there")
    for place, value in enumerate(_VALUES):
        rank = sight.opens if place < 4 else BREAKS
        if sight.passed:
            rank = BREAKS if value is None else EDGE
        yield BranchGoal(rank, {**properties, name: value}, f"the code wants {name!r}; it is {value!r}")


def _encoding(sight: Sight) -> Iterator[BranchGoal]:
    ascii_only = "".join(character for character in sight.text if character.isascii()) or FILLER
    yield BranchGoal(PASSES, ascii_only, "the text could not be encoded")


TAKING_APART: dict[str, Callable[[Sight], Iterator[BranchGoal]]] = {
    **dict.fromkeys(("startswith", "removeprefix"), _beginning),
    **dict.fromkeys(("endswith", "removesuffix"), _ending),
    **dict.fromkeys(("contains", "find", "rfind", "rindex", "count", "replace"), _part),
    **dict.fromkeys(("split", "rsplit", "splitlines", "partition", "rpartition"), _part),
    "unpack": _unpacking,
    "index": lambda sight: _place(sight) if isinstance(sight.operand, list) else _part(sight),
    "len": _length,
    "has key": _key,
    "encode": _encoding,
}
