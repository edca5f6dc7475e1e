"""What is written down about each operation."""

import ast
import base64
import contextlib
import csv
import datetime
import decimal
import enum
import fractions
import io
import json
import os.path
import pathlib
import re
import shlex
import subprocess
import sys
import urllib.parse
import uuid
import xml.etree.ElementTree
from collections.abc import Callable
from json import loads as read
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from misstep.core.tool import Observation
from misstep.fuzzing.taint import observe

PATTERN = re.compile("(a+)-(?P<rest>b*)")
KEYS = {"red": 1, "green": 2}
NUMBERS = {7, 8}
SHOP = SimpleNamespace(prices={"tea": 2})


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


def seen(action: Callable[[Any], Any], value: Any) -> set[tuple[str, Any, bool | None]]:
    """What is observed of the argument, whether or not the action ends in an error."""
    return {
        (one.operation, as_value(one), one.outcome)
        for one in observations(action, value)
        if not one.via and not one.path
    }


def observations(action: Callable[[Any], Any], value: Any) -> tuple[Observation, ...]:
    with observe() as marks, contextlib.suppress(Exception):
        action(marks.mark(value))
    return marks.observations


def as_value(one: Observation) -> Any:
    value = json.loads(one.operand)
    return tuple(value) if isinstance(value, list) else value


def two(value: Any) -> Any:
    first, second = value
    return first, second


def some(value: Any) -> Any:
    first, second, *rest = value
    return first, second, rest


def either(value: Any) -> int:
    return 1 if value else 2


def neither(value: Any) -> bool:
    return not value


def shape(value: Any) -> Any:
    match value:
        case {"kind": "a", "size": size}:
            return size
        case [first, second, third]:
            return first, second, third
        case "word":
            return 1


def floats(value: Any) -> Any:
    first, second = map(float, [value, value])
    return first, second


OPERATIONS: list[tuple[Callable[[Any], Any], Any, tuple[str, Any, bool | None]]] = [
    (lambda x: x == "b", "a", ("==", "b", False)),
    (lambda x: x != "b", "a", ("!=", "b", True)),
    (lambda x: x < "b", "a", ("<", "b", True)),
    (lambda x: x <= "b", "a", ("<=", "b", True)),
    (lambda x: x > "b", "a", (">", "b", False)),
    (lambda x: x >= "b", "a", (">=", "b", False)),
    (lambda x: x in ["b", "c"], "a", ("==", "c", False)),
    (lambda x: x in ("b", "c"), "a", ("==", "b", False)),
    (lambda x: x in {"b", "c"}, "a", ("key of", ("b", "c"), False)),
    (lambda x: x not in KEYS, "a", ("key of", ("red", "green"), False)),
    (lambda x: x in KEYS.keys(), "red", ("key of", ("red", "green"), True)),  # noqa: SIM118
    (lambda x: KEYS[x], "a", ("key of", ("red", "green"), False)),
    (lambda x: KEYS.get(x), "red", ("key of", ("red", "green"), True)),
    (lambda x: {"b": 1, "c": 2}[x], "a", ("key of", ("b", "c"), False)),
    (lambda x: SHOP.prices[x], "a", ("key of", ("tea",), False)),
    (lambda x: x in NUMBERS, 3, ("key of", (7, 8), False)),
    (Colour, "a", ("key of", ("red", "blue"), False)),
    (lambda x: Colour[x], "a", ("key of", ("RED", "BLUE"), False)),
    (lambda x: "b" in x, "a", ("contains", "b", False)),
    (lambda x: x.startswith("b"), "a", ("startswith", "b", False)),
    (lambda x: x.startswith(("b", "c")), "a", ("startswith", ("b", "c"), False)),
    (lambda x: x.endswith("a"), "a", ("endswith", "a", True)),
    (lambda x: x.find("b"), "a", ("find", "b", False)),
    (lambda x: x.rfind("a"), "a", ("rfind", "a", True)),
    (lambda x: x.index("b"), "a", ("index", "b", False)),
    (lambda x: x.count("b"), "a", ("count", "b", False)),
    (lambda x: x.split("="), "a", ("split", "=", False)),
    (lambda x: x.split(), "a b", ("split", None, True)),
    (lambda x: x.rsplit("=", 1), "a=b", ("rsplit", "=", True)),
    (lambda x: x.partition("="), "a", ("partition", "=", False)),
    (lambda x: x.rpartition("="), "a=b", ("rpartition", "=", True)),
    (lambda x: x.splitlines(), "a\nb", ("splitlines", "\n", True)),
    (lambda x: x.removeprefix("b"), "a", ("removeprefix", "b", False)),
    (lambda x: x.replace("a", "b"), "a", ("replace", "a", True)),
    (lambda x: x[3], "abc", ("index", (3, 3), False)),
    (lambda x: x[0], "abc", ("index", (0, 3), True)),
    (two, "abc", ("unpack", 2, False)),
    (two, [1, 2], ("unpack", 2, True)),
    (some, [1], ("unpack", 2, False)),
    (either, "", ("truth", None, False)),
    (neither, [1], ("truth", None, True)),
    (either, 0, ("truth", None, False)),
    (lambda x: len(x) > 3, "abc", ("len", (">", 3), False)),
    (lambda x: 1 <= len(x) < 9, [], ("len", (">=", 1), False)),
    (shape, {}, ("has key", "size", False)),
    (shape, [], ("unpack", 3, False)),
    (shape, "a", ("==", "word", False)),
    (lambda x: int(x), "a", ("int", None, False)),
    (lambda x: [int(part) for part in [x]], "a", ("int", None, False)),
    (lambda x: list(map(int, [x])), "a", ("int", None, False)),
    (lambda x: float(x), "a", ("float", None, False)),
    (floats, "a", ("float", None, False)),
    (lambda x: fractions.Fraction(x), "a", ("Fraction", None, False)),
    (lambda x: datetime.datetime.strptime(x, "%Y"), "a", ("strptime", "%Y", False)),
    (lambda x: datetime.datetime.strptime(x, "%Y"), "1999", ("strptime", "%Y", True)),
    (lambda x: datetime.date.fromisoformat(x), "a", ("fromisoformat", None, False)),
    (lambda x: datetime.datetime.fromisoformat(x), "a", ("fromisoformat", None, False)),
    (lambda x: re.match("b", x), "a", ("match", ("b", 0), False)),
    (lambda x: re.search("B", x, re.I), "b", ("search", ("B", 2), True)),
    (lambda x: re.fullmatch("b+", x), "bb", ("fullmatch", ("b+", 0), True)),
    (lambda x: re.compile("b").match(x), "a", ("match", ("b", 0), False)),
    (lambda x: re.findall("b", x), "a", ("search", ("b", 0), False)),
    (lambda x: re.sub("b", "c", x), "b", ("search", ("b", 0), True)),
    (lambda x: re.split("b", x), "b", ("search", ("b", 0), True)),
    (lambda x: list(re.finditer("b", x)), "b", ("search", ("b", 0), True)),
    (lambda x: PATTERN.match(x), "b", ("match", ("(a+)-(?P<rest>b*)", 0), False)),
    (lambda x: re.compile(x), "(", ("pattern", None, False)),
    (lambda x: json.loads(x), "a", ("json", None, False)),
    (lambda x: read(x), "{}", ("json", None, True)),
    (lambda x: json.JSONDecoder().decode(x), "1", ("json", None, True)),
    (lambda x: ast.literal_eval(x), "[1]", ("literal", None, True)),
    (lambda x: base64.b64decode(x), "YQ==", ("base64", None, True)),
    (lambda x: uuid.UUID(x), "a", ("uuid", None, False)),
    (lambda x: csv.reader(io.StringIO(x)), "a", ("csv", ",", None)),
    (lambda x: csv.reader(x.splitlines(), delimiter=";"), "a", ("csv", ";", None)),
    (lambda x: xml.etree.ElementTree.fromstring(x), "<a>", ("xml", None, False)),
    (lambda x: urllib.parse.urlparse(x), "a", ("url", None, True)),
    (lambda x: urlsplit(x), "http://[", ("url", None, False)),
    (lambda x: urllib.parse.parse_qs(x), "a=b", ("query", None, True)),
    (lambda x: shlex.split(x), '"', ("words", None, False)),
    (lambda x: os.path.splitext(x), "a.b", ("path", "splitext", True)),
    (lambda x: os.path.join("/", x), "a", ("path", "join", True)),
    (lambda x: os.path.exists(x), "a", ("path", "exists", True)),
    (lambda x: pathlib.Path(x), "a", ("path", "Path", True)),
    (lambda x: pathlib.PurePosixPath("a", x), "a", ("path", "Path", True)),
    (lambda x: open(x), "/no/such/file", ("path", "open", False)),  # noqa: SIM115
    (lambda x: x.isdigit(), "a", ("isdigit", None, False)),
    (lambda x: x.isalpha(), "a", ("isalpha", None, True)),
    (lambda x: x.encode("ascii"), "ß", ("encode", "ascii", False)),
    (lambda x: isinstance(x, dict), "a", ("isinstance", ("dict",), False)),
    (lambda x: isinstance(x, (list, int)), "a", ("isinstance", ("list", "int"), False)),
    (lambda x: x.append(1), "a", ("attribute", "append", False)),
    (lambda x: x["b"], "a", ("has key", "b", False)),
    (lambda x: x == 5, 4, ("==", 5, False)),
    (lambda x: x > 5, 4, (">", 5, False)),
    (lambda x: x >= 2.5, 4.0, (">=", 2.5, True)),
    (lambda x: 10 / x, 4, ("divisor", 10, True)),
    (lambda x: 10 // x, 0, ("divisor", 10, False)),
    (lambda x: 10 % x, 0.5, ("divisor", 10, True)),
    (lambda x: divmod(10, x), 3, ("divisor", 10, True)),
    (lambda x: x.is_integer(), 3.5, ("is_integer", None, False)),
    (lambda x: x[2], [1], ("index", (2, 1), False)),
    (lambda x: x.pop(), [], ("index", (-1, 0), False)),
    (lambda x: 5 in x, [1], ("contains", 5, False)),
    (lambda x: x.index(5), [1], ("contains", 5, False)),
    (lambda x: x == [], [1], ("==", (), False)),
    (lambda x: x["b"], {}, ("has key", "b", False)),
    (lambda x: x.get("b"), {"b": 1}, ("has key", "b", True)),
    (lambda x: "b" in x, {}, ("has key", "b", False)),
    (lambda x: x.pop("b", None), {}, ("has key", "b", False)),
    (lambda x: x.setdefault("b", 1), {}, ("has key", "b", False)),
]


@pytest.mark.parametrize(("action", "value", "expected"), OPERATIONS)
def test_operations(action: Callable[[Any], Any], value: Any, expected: tuple[str, Any, bool | None]) -> None:
    assert expected in seen(action, value)


DERIVED: list[tuple[Callable[[Any], Any], Any, list[list[Any]]]] = [
    (lambda x: x.strip().lower(), " A ", [["strip"], ["lower"]]),
    (lambda x: x.split(",")[1], "b,a", [["split", ",", -1], ["at", 1]]),
    (lambda x: x.rsplit(",", 1)[-1], "b,a", [["rsplit", ",", 1], ["at", 1]]),
    (lambda x: x.partition(":")[2], "b:a", [["partition", ":", 2]]),
    (lambda x: x[1:], "ba", [["slice", 1, 2, 1]]),
    (lambda x: x[-1], "ba", [["slice", 1, 2, 1]]),
    (lambda x: list(x)[1], "ba", [["slice", 1, 2, 1]]),
    (lambda x: "b" + x, "a", [["prepend", "b"]]),
    (lambda x: x + "b", "a", [["append", "b"]]),
    (lambda x: str(x), "a", []),
    (lambda x: f"{x}", "a", []),
    (lambda x: x.removeprefix("b"), "ba", [["removeprefix", "b"]]),
    (lambda x: json.loads(x)["b"][0], '{"b": ["a"]}', [["json"], ["at", "b"], ["at", 0]]),
    (lambda x: ast.literal_eval(x)[0], "['a']", [["literal"], ["at", 0]]),
    (lambda x: base64.b64decode(x).decode(), "YQ==", [["base64"], ["decode"]]),
    (lambda x: urllib.parse.urlparse(x).scheme, "a://b", [["url", "scheme"]]),
    (lambda x: urllib.parse.parse_qs(x)["b"][0], "b=a", [["query"], ["at", "b"], ["at", 0]]),
    (lambda x: shlex.split(x)[1], "b a", [["words"], ["at", 1]]),
    (lambda x: os.path.splitext(x)[1], "b.a", [["path splitext", 1]]),
    (lambda x: os.path.basename(x), "b/a", [["basename"]]),
    (lambda x: PATTERN.match(x).group(1), "a-b", [["group", "match", PATTERN.pattern, 0, 1]]),  # type: ignore[union-attr]
    (lambda x: re.search("(a)", x).groups()[0], "ba", [["group", "search", "(a)", 0, 1]]),  # type: ignore[union-attr]
    (lambda x: PATTERN.match(x)["rest"], "a-b", [["group", "match", PATTERN.pattern, 0, 2]]),  # type: ignore[index]
    (lambda x: x + 1, 1, [["add", 1]]),
    (lambda x: 10 - x, 1, [["rsub", 10]]),
    (lambda x: -(x * 2), 1, [["mul", 2], ["neg"]]),
    (lambda x: x % 7, 1, [["mod", 7]]),
    (lambda x: abs(x), -1.5, [["abs"]]),
]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.11 does not tell of such calls")
@pytest.mark.parametrize(
    ("action", "value", "expected"),
    [
        (lambda x: int(x), "7", ("int", None, True)),
        (lambda x: float(x), "7", ("float", None, True)),
        (lambda x: decimal.Decimal(x), "a", ("Decimal", None, False)),
        (lambda x: list(range(x)), 3, ("range", None, True)),
    ],
)
def test_calls_of_types(
    action: Callable[[Any], Any], value: Any, expected: tuple[str, Any, bool | None]
) -> None:
    assert expected in seen(action, value)


@pytest.mark.parametrize(("action", "value", "steps"), DERIVED)
def test_what_is_made_of_a_marked_value_is_marked(
    action: Callable[[Any], Any], value: Any, steps: list[list[Any]]
) -> None:
    noted = observations(lambda x: action(x) == "compared", value)
    ways = [
        [[name, *json.loads(operands)] for name, operands in one.via]
        for one in noted
        if one.operand == '"compared"'
    ]
    assert ways == [steps]


def test_both_sides_of_a_comparison_are_told() -> None:
    with observe() as marks:
        one, other = marks.mark(["a", "b"])
        assert one != other
        assert "x" not in other
    assert [(seen.path, seen.operation, seen.operand) for seen in marks.observations[-3:]] == [
        ((0,), "!=", '"b"'),
        ((1,), "!=", '"a"'),
        ((1,), "contains", '"x"'),
    ]


def test_paths_lead_through_objects_and_lists() -> None:
    with observe() as marks:
        assert marks.mark({"a": [{"b": 1}]})["a"][0]["b"] < 2
    assert marks.observations[-1] == Observation(("a", 0, "b"), "<", "2", True)


def test_everything_is_bounded() -> None:
    with observe() as marks:
        text = marks.mark("a")
        for number in range(10_000):
            assert text != "b" * 10_000 + str(number)
            assert text not in {str(number): 1, number: 2}
        assert text != object()
        assert text != float("nan")
        assert marks.mark(1) != 10**1000
    assert len(marks.observations) < 100
    assert max(len(one.operand) for one in marks.observations) < 300


def test_operands_are_json_without_surprises() -> None:
    class Rude(str):
        __slots__ = ()

        def __str__(self) -> str:
            raise RuntimeError

        __repr__ = __str__

    with observe() as marks:
        assert marks.mark("a") != Rude("\ud800")
        assert marks.mark("a") != b"\xff"
    assert [one.operand for one in marks.observations] == ['"\\ud800"', '"\\u00ff"']


def test_nothing_is_told_after_the_end() -> None:
    with observe() as marks:
        text = marks.mark("a,b")
    assert text == "a,b"
    assert type(text.split(",")) is list
    assert marks.observations == ()


def test_looking_for_the_keys_runs_no_code_of_the_tool() -> None:
    class Shop:
        asked = 0

        @property
        def prices(self) -> dict[str, int]:
            self.asked += 1
            return {"a": 1}

    shop = Shop()
    observations(lambda x: shop.prices.get(x), "a")
    assert shop.asked == 1


def test_dates_are_read_by_other_functions_in_python_3_14() -> None:
    code = """
import _strptime
read = vars(_strptime).pop("_strptime_datetime", None) or _strptime._strptime_datetime_datetime
_strptime._strptime_datetime_datetime = read
from misstep.fuzzing.taint.watches import functions
names = {name for _, name in functions()}
assert {"_strptime_datetime_datetime", "_strptime_time"} <= names
"""
    subprocess.run([sys.executable, "-c", code], check=True)
