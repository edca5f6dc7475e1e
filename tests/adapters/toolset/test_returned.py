"""Whatever tools return, in words that have an end."""

import dataclasses
from typing import Any

import pytest
from pydantic import BaseModel

from misstep.adapters.toolset.calling import COUNTED, MOST, spent, structure, told


class Hostile:
    def __str__(self) -> str:
        raise RuntimeError("no")


class Loud(str):
    def __str__(self) -> str:
        raise RuntimeError("no")


@dataclasses.dataclass
class Point:
    x: int


class Model(BaseModel):
    points: list[int]


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("so", "so"),
        (None, "None"),
        (True, "True"),
        (1.5, "1.5"),
        ({"a": [1, None]}, '{"a": [1, null]}'),
        ((1, "ä"), '[1, "ä"]'),
        (b"bytes", "bytes"),
        (Loud("loud"), "loud"),
        (Point(1), "Point(x=1)"),
        ({1: Point(2)}, '{"1": "Point(x=2)"}'),
        ({(1, 2): 3}, "{(1, 2): 3}"),
        ("\ud800", "\ud800"),
    ],
)
def test_words(value: object, text: str) -> None:
    returned = told(value)
    assert (returned.text, returned.size) == (text, len(text))


@pytest.mark.parametrize("value", [Hostile(), [Hostile()], {"a": Hostile()}])
def test_objects_that_won_t_be_put_into_words(value: object) -> None:
    assert "Hostile that can't be converted to text: RuntimeError" in told(value).text


def test_a_circle_has_words_too() -> None:
    assert told(CIRCLE).text == "[[...]]"


@pytest.mark.parametrize("value", ["x" * 10_000, b"x" * 10_000])
def test_long_results_are_cut(value: object) -> None:
    returned = told(value)
    assert (returned.text, returned.size) == ("x" * MOST, 10_000)


def test_what_never_seems_to_end_is_not_written_to_its_end() -> None:
    returned = told([list(range(1_000))] * 100_000)  # half a billion characters
    assert len(returned.text) == MOST
    assert COUNTED < returned.size < 2 * COUNTED


def test_generators_are_asked_for_so_much_and_no_more() -> None:
    def endless() -> Any:
        while True:
            yield 1

    assert len(spent(endless())) == 1_000
    assert spent([1]) == [1]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Point(1), '{"x": 1}'),
        (Model(points=[1]), '{"points": [1]}'),
        ([Point(1), (2,)], '[{"x": 1}, [2]]'),
        (None, "null"),
        ("\ud800", '"\\ud800"'),
        (Hostile(), None),
        (float("nan"), None),
        (CIRCLE, None),
        ("x" * 2_000_000, None),
    ],
)
def test_structures(value: object, expected: str | None) -> None:
    assert structure(value) == expected
