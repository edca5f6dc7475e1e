"""Which values are proposed, in which order, and that it is always the same ones."""

import json
from typing import Any

import pytest

from misstep.core.rng import Dice
from misstep.core.tool import Observation
from misstep.fuzzing.branch_solver import Opening, opened, openings


def proposed(
    value: Any, operation: str, operand: Any = None, outcome: bool | None = False, **more: Any
) -> list[Any]:
    observation = Observation(("x",), operation, json.dumps(operand), outcome, **more)
    return [opening.value for opening in openings({"x": value}, [observation], Dice(1))]


FIRST: list[tuple[Any, str, Any, bool | None, Any]] = [
    ("a", "startswith", "q:", False, "q:a"),
    ("q:a", "startswith", "q:", True, "q:"),
    ("a", "endswith", ".txt", False, "a.txt"),
    ("a", "contains", "=", False, "a=a"),
    ("a=b", "split", "=", True, "="),
    ("a", "==", "magic", False, "magic"),
    ("a", "!=", "magic", True, "magic"),
    (3, ">", 10, False, 11),
    (3, "<", 3, False, 4),
    (3, "divisor", 10, True, 0),
    ("a", "key of", ["red"], False, "red"),
    ({}, "has key", "k", False, {"k": "a"}),
    ({"k": 1}, "has key", "k", True, {}),
    ([1], "index", [2, 1], False, [1, "a", "a"]),
    ([1, 2, 3], "index", [2, 3], True, [1, 2]),
    ([1], "unpack", 3, False, [1, "a", "a"]),
    ("abc", "len", [">", 5], False, "abcaa"),
    ("", "truth", None, False, "a"),
    ("a", "int", None, False, "7"),
    ("a", "strptime", "%d/%m/%Y", False, "29/02/2024"),
    ("a", "json", None, False, "{}"),
    ("a", "isdigit", None, False, "7"),
    ("a", "match", [r"v(\d+)", 0], False, "v1"),
    ("a", "url", None, False, "http://example.com/a?b=c#d"),
]


@pytest.mark.parametrize(("value", "operation", "operand", "outcome", "first"), FIRST)
def test_the_most_promising_comes_first(
    value: Any, operation: str, operand: Any, outcome: bool | None, first: Any
) -> None:
    assert proposed(value, operation, operand, outcome)[0] == first


@pytest.mark.parametrize(
    ("value", "operation", "operand", "among"),
    [
        ("a", "startswith", "q:", ["q:", "q:   ", "q:q:"]),
        ("a", "split", "=", ["=", "a=", "=a", "a==a", "a=a=a"]),
        ({}, "has key", "k", [{"k": None}, {"k": []}, {"k": 1}, {"k": ""}]),
        ([], "unpack", 2, [["a"], ["a", "a", "a"], ["", "a"], ["a", ""]]),
        ("a", "int", None, ["0", "-1", "999999999999999999999999"]),
        ("a", "strptime", "%Y", ["0001", "9999"]),
        ("a", "fullmatch", [r"(\d+)-([A-Z])", 0], ["1-A", "1-"]),
        ("a", "json", None, ["null", "[]", "[null]"]),
        (1, "<=", 5, [4, 5, 6]),
        ("abc", "len", ["<", 3], ["ab", "abca"]),
        ("a", "isdigit", None, ["²"]),
        ("a", "path", "open", ["", "a\x00b", "\ud800", ".."]),
    ],
)
def test_what_breaks_behind_the_gate_is_among_them(
    value: Any, operation: str, operand: Any, among: list[Any]
) -> None:
    values = proposed(value, operation, operand)
    assert [wanted for wanted in among if wanted not in values] == []


def test_values_are_put_into_the_part_that_was_seen() -> None:
    via = (("json", "[]"), ("at", '["user"]'))
    assert proposed('{"id": 1}', "has key", "name", via=via)[0] == '{"id": 1, "user": {"name": "a"}}'


def test_gates_that_were_passed_stay_passed() -> None:
    seen = [
        Observation(("x",), "startswith", '"q:"', True),
        Observation(("x",), "search", json.dumps([r"\d\d", 0]), False),
    ]
    values = [opening.value for opening in openings({"x": "q:a"}, seen, Dice(1))]
    assert values[0] == "q:11"
    assert "11" in values


def test_of_a_pattern_without_a_known_match_only_the_beginning_is_proposed() -> None:
    assert proposed("a", "match", [r"(?<!a)(?!.)b\b(?!.)", 0]) == ["b"]


def test_the_same_dice_give_the_same() -> None:
    many = Observation(("x",), "key of", json.dumps([f"k{number}" for number in range(40)]), False)
    one, again, other = (openings({"x": "a"}, [many], Dice(seed)) for seed in (1, 1, 2))
    assert one == again != other


def test_whatever_has_been_observed() -> None:
    values = ["a", "", 5, None, [1], {"a": 1}]
    operands = [None, "a", 5, ["a"], [1, 2], ["<", 3], {"a": 1}, 1.5, ["(", 0], True]
    operations = {operation for _, operation, *_ in FIRST} | {
        "csv",
        "isinstance",
        "attribute",
        "encode",
        "index in",
    }
    for operation in operations:
        for operand in operands:
            seen = [Observation(("x",), operation, json.dumps(operand), outcome) for outcome in (True, False)]
            for value in values:
                for opening in openings({"x": value}, seen, Dice(1)):
                    json.dumps(opened({"x": value}, opening), allow_nan=False)


def test_long_texts_are_not_made_longer() -> None:
    values = proposed("a" * 200_000, "startswith", "q:") + proposed("a" * 200_000, "index", [10**9, 3])
    assert values
    assert max(len(value) for value in values) < 10_000


def test_places_that_are_not_there_are_not_filled_up() -> None:
    far = Observation(("x", 10**9), "==", '"a"', False)
    deep = Observation(("x",), "==", '"a"', False, (("split", '[",", -1]'), ("at", "[1000000000]")))
    garbled = Observation(("x",), "==", "{", False, (("at", "}"),))
    assert openings({"x": ["b"]}, [far], Dice(1)) == []
    assert openings({"x": "b"}, [deep, garbled], Dice(1)) == []


def test_an_opening_changes_one_place() -> None:
    before = {"a": [{"b": 1}, 2], "c": 3}
    assert opened(before, Opening(("a", 0, "b"), 9)) == {"a": [{"b": 9}, 2], "c": 3}
    assert opened(before, Opening(("d", 1), 9)) == {**before, "d": [None, 9]}
    assert before == {"a": [{"b": 1}, 2], "c": 3}


def test_arguments_that_nothing_is_known_of() -> None:
    assert openings({"x": "a", "y": [1, {}]}, [], Dice(1)) == []
    assert "-1" in [opening.value for opening in openings({"x": "12"}, [], Dice(1))]
