"""Proposes values for what a tool's code has compared, looked up, split or parsed (`Sight`)."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from misstep.core.rng import Dice
from misstep.fuzzing.branch_solver.inverses import FILLER
from misstep.fuzzing.branch_solver.regex import VERY_OFTEN, beginnings, examples

LONGEST = 2_000  # characters of a text, items or characters that a value is padded to
MOST_KEYS = 12

# The rank of a goal, most promising first.
PASSES = 0  # it passes a test that failed
BREAKS = 1  # it passes the test, and the code behind it probably can't handle it
EDGE = 2  # it is at a boundary, on either side
ODD = 3  # it is valid in an unusual way
FAR = 6  # it might be worth a try

BranchGoal: TypeAlias = tuple[int, Any]  # a rank, and a value for what the code tested


class Sight(NamedTuple):
    """An operation on a value, and the value at that time; MISSING if unknown."""

    operation: str
    operand: Any
    passed: bool | None
    now: Any
    dice: Dice

    @property
    def text(self) -> str:
        """The value as a text, truncated; a short word if it is not a text."""
        return self.now[:LONGEST] if isinstance(self.now, str) and self.now else FILLER

    @property
    def items(self) -> list[Any]:
        return list(self.now) if isinstance(self.now, list) else []

    @property
    def opens(self) -> int:
        """The rank of a value that passes: low if the test passed already."""
        return FAR if self.passed else PASSES

    def joined(self, items: list[Any]) -> Any:
        """The items, joined to a text if the value is one."""
        return "".join(map(str, items)) if isinstance(self.now, str) else items


GoalMaker: TypeAlias = Callable[[Sight], Iterable[BranchGoal]]


def _equality(sight: Sight) -> Iterator[BranchGoal]:
    same = sight.passed if sight.operation == "==" else sight.passed is False
    yield FAR if same else PASSES, sight.operand
    if isinstance(sight.operand, str):
        for other in (sight.operand.upper(), sight.operand + " ", ""):
            yield FAR, other
    yield from _near(sight, ODD)


def _order(sight: Sight) -> Iterator[BranchGoal]:
    if isinstance(sight.operand, str):
        yield PASSES, sight.operand
        yield EDGE, sight.operand + "a"
        yield EDGE, ""
        return
    yield EDGE, sight.operand
    yield from _near(sight, sight.opens if sight.passed is not True else EDGE)


def _near(sight: Sight, rank: int) -> Iterator[BranchGoal]:
    if isinstance(sight.operand, bool) or not isinstance(sight.operand, int | float):
        return
    for step in (1, -1):
        yield rank, sight.operand + step
    for far in (sight.operand * 1000 + 1, -sight.operand * 1000 - 1):
        yield FAR, far


def _lookup(sight: Sight) -> Iterator[BranchGoal]:
    keys = [key for key in sight.operand if isinstance(key, str | int | float)]
    for key in keys if len(keys) <= MOST_KEYS else sight.dice.sample(keys, MOST_KEYS):
        yield EDGE if sight.passed else PASSES, key
    texts = [key for key in keys if isinstance(key, str)]
    if texts:
        for other in (texts[0].swapcase(), texts[0] + " ", ""):
            yield BREAKS if sight.passed else ODD, other


_OF_TYPE: dict[str, Any] = {
    "str": "a", "int": 1, "float": 1.5, "bool": True, "Number": 1, "dict": {}, "Mapping": {},
    "list": [], "tuple": [], "Sequence": [], "Iterable": [],
}  # fmt: skip
_WITH_ATTRIBUTE: dict[str, Any] = {
    **{name: [] for name in ("append", "extend", "sort", "insert", "reverse", "remove")},
    **{name: {} for name in ("keys", "items", "values", "get", "update", "setdefault", "pop", "copy")},
    **dict.fromkeys(("strip", "split", "lower", "upper", "startswith", "endswith", "encode", "replace"), "a"),
    **dict.fromkeys(("bit_length", "is_integer", "numerator", "real"), 1),
}
_EMPTY_AND_NOT: dict[type, tuple[Any, Any]] = {
    str: ("", "a"), list: ([], ["a"]), dict: ({}, {"a": 1}), int: (0, 1), float: (0.0, 1.0),
}  # fmt: skip


def _type(sight: Sight) -> Iterator[BranchGoal]:
    for name in sight.operand:
        if name in _OF_TYPE:
            yield sight.opens, _OF_TYPE[name]


def _truth(sight: Sight) -> Iterator[BranchGoal]:
    if type(sight.now) in _EMPTY_AND_NOT:
        empty, other = _EMPTY_AND_NOT[type(sight.now)]
        yield (EDGE, empty) if sight.passed else (PASSES, other)


# Methods that answer yes or no about a text: an ordinary text for which it is yes, then unusual ones.
QUESTIONS: dict[str, tuple[str, ...]] = {
    "isalnum": ("a1", "\u00b2"),
    "isalpha": ("abc", "\u00df"),
    "isascii": ("abc", ""),
    "isdecimal": ("7", "0", "\u0663"),
    "isdigit": ("7", "0", "\u00b2"),
    "isidentifier": ("abc", "class"),
    "islower": ("abc", "\u00df"),
    "isnumeric": ("7", "0", "\u00bd"),
    "isprintable": ("abc", ""),
    "isspace": (" ", "\u2003"),
    "istitle": ("Abc",),
    "isupper": ("ABC",),
}


def _question(sight: Sight) -> Iterator[BranchGoal]:
    plain, *odd = QUESTIONS[sight.operation]
    # Every character that fails the test is replaced, so that the length stays.
    alike = "".join(each if getattr(each, sight.operation)() else plain[0] for each in sight.text)
    yield sight.opens, alike
    yield sight.opens, plain
    for text in odd:
        yield BREAKS, text
        yield BREAKS, alike[:-1] + text
    if "0" in odd:
        yield BREAKS, "0" * len(alike)
    yield FAR, "-"


def _inside(sight: Sight) -> Iterator[BranchGoal]:
    """It is looked for in another argument, which is the operand."""
    if isinstance(sight.operand, str):
        yield sight.opens, sight.operand
        yield EDGE, sight.operand[:1]
        yield BREAKS if sight.passed else FAR, ""


def _beginning(sight: Sight) -> Iterator[BranchGoal]:
    for prefix in _texts(sight.operand):
        if not sight.text.startswith(prefix):
            yield sight.opens, prefix + sight.text
        for rest in ("", "   ", prefix):
            yield BREAKS, prefix + rest
        yield ODD, prefix + prefix + sight.text
        yield FAR, " " + prefix + sight.text
        yield FAR, prefix[:-1]


def _ending(sight: Sight) -> Iterator[BranchGoal]:
    for suffix in _texts(sight.operand):
        if not sight.text.endswith(suffix):
            yield sight.opens, sight.text + suffix
        for rest in ("", "   ", suffix):
            yield BREAKS, rest + suffix
        yield FAR, sight.text + suffix + " "


def _texts(operand: Any) -> list[str]:
    given = operand if isinstance(operand, list) else [operand]
    return [text for text in given if isinstance(text, str) and text]


def _part(sight: Sight) -> Iterator[BranchGoal]:
    """The operand is looked for in it."""
    if isinstance(sight.now, list):
        yield sight.opens, [*sight.items, sight.operand]
        yield BREAKS, [sight.operand]
        return
    text, separator = sight.text, sight.operand if isinstance(sight.operand, str) else " "
    if not separator:
        return
    if separator not in text:
        yield sight.opens, f"{text}{separator}{text}"
    yield BREAKS, separator
    yield BREAKS, f"{text.split(separator)[0]}{separator}"
    yield BREAKS, f"{separator}{text.split(separator)[-1]}"
    yield EDGE, f"{text}{separator}{separator}{text}"
    first = text.split(separator)[0] or FILLER
    yield EDGE, f"{text}{separator}{first}{separator}{first}"
    if separator in text:
        yield BREAKS, text.replace(separator, "")


def _unpacking(sight: Sight) -> Iterator[BranchGoal]:
    wanted = int(sight.operand)
    items = sight.items or (list(sight.text) if isinstance(sight.now, str) else [])
    filled = [*items, *[FILLER] * wanted][:wanted]
    yield sight.opens, sight.joined(filled)
    yield EDGE, sight.joined(filled[: max(wanted - 1, 0)])
    yield EDGE, sight.joined([*filled, FILLER])
    yield BREAKS if sight.passed else EDGE, sight.joined([])
    for place in range(min(wanted, 6)):
        yield BREAKS, sight.joined([*filled[:place], "", *filled[place + 1 :]])


def _index(sight: Sight) -> Iterator[BranchGoal]:
    if not isinstance(sight.operand, list):  # the method of a text
        yield from _part(sight)
        return
    place, _ = sight.operand
    wanted = place + 1 if place >= 0 else -place
    if wanted > LONGEST:
        return
    items = list(sight.now) if isinstance(sight.now, str | list) else []
    yield sight.opens, sight.joined([*items, *[FILLER] * (wanted - len(items))])
    yield BREAKS, sight.joined(items[: wanted - 1])
    yield BREAKS, sight.joined([])


def _length(sight: Sight) -> Iterator[BranchGoal]:
    _, bound = sight.operand
    if not 0 <= bound <= LONGEST or not isinstance(sight.now, str | list):
        return
    for length, rank in ((bound, PASSES), (bound + 1, PASSES), (bound - 1, EDGE)):
        if length >= 0:
            for place, items in enumerate(_of_length(list(sight.now), length)):
                yield (EDGE if sight.passed else rank) + place, sight.joined(items)


def _of_length(items: list[Any], length: int) -> Iterator[list[Any]]:
    """The items cut or padded to a length: at the end, at the beginning, in the middle."""
    more, less = [FILLER] * (length - len(items)), max(len(items) - length, 0)
    yield [*items[: len(items) - less], *more]
    if items:
        yield [*more, *items[less:]]
        middle = (len(items) - less) // 2
        yield [*items[:middle], *more, *items[middle + less :]]


# Values for a property: first what most code accepts, then what it least expects.
_VALUES: tuple[Any, ...] = ("a", 1, {}, [], None, True, "", -1, 1.5, ["a"], {"a": 1}, "7")


def _key(sight: Sight) -> Iterator[BranchGoal]:
    name, properties = str(sight.operand), dict(sight.now) if isinstance(sight.now, dict) else {}
    if name in properties:
        yield BREAKS, {key: value for key, value in properties.items() if key != name}
    for place, value in enumerate(_VALUES):
        rank = sight.opens if place < 4 else BREAKS
        if sight.passed:
            rank = BREAKS if value is None else EDGE
        yield rank, {**properties, name: value}


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
    datetime(2024, 2, 29, 12, 30, 45), datetime(2023, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1),
    datetime(9999, 12, 31, 23, 59, 59), datetime(1, 1, 1),
)  # fmt: skip


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


GOALS: dict[str, GoalMaker] = {
    **dict.fromkeys(("==", "!="), _equality),
    **dict.fromkeys(("<", "<=", ">", ">="), _order),
    "key of": _lookup,
    "isinstance": _type,
    "attribute": lambda sight: [(PASSES, _WITH_ATTRIBUTE[sight.operand])],
    "truth": _truth,
    "divisor": lambda _: ((BREAKS, 0), (ODD, 5e-324), (ODD, -1)),
    "is_integer": lambda sight: [(EDGE, 2.5 if sight.passed else 2.0)],
    "range": lambda _: ((BREAKS, 0), (BREAKS, -1), (EDGE, 1), (FAR, 10**6)),
    **dict.fromkeys(QUESTIONS, _question),
    **{
        f"{name} in": _inside
        for name in ("contains", "find", "rfind", "index", "rindex", "count", "startswith", "endswith")
    },
    **dict.fromkeys(("startswith", "removeprefix"), _beginning),
    **dict.fromkeys(("endswith", "removesuffix"), _ending),
    **dict.fromkeys(("contains", "find", "rfind", "rindex", "count", "replace"), _part),
    **dict.fromkeys(("split", "rsplit", "splitlines", "partition", "rpartition"), _part),
    "unpack": _unpacking,
    "index": _index,
    "len": _length,
    "has key": _key,
    "encode": lambda sight: [(PASSES, "".join(filter(str.isascii, sight.text)) or FILLER)],
    **dict.fromkeys(_FORMATS, _format),
    "csv": _table,
    "strptime": _date,
    **dict.fromkeys(("match", "search", "fullmatch"), _regex),
}
