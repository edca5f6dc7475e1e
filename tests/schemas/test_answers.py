"""Forms that models fill in: what servers are told of them, and how answers are read."""

import json
from typing import Annotated, Any

import jsonschema
import msgspec
import pytest
from msgspec import Meta

from misstep.schemas.answers import MOST_TEXT, FormatError, find_copied, form_of, texts


class Leg(msgspec.Struct, frozen=True):
    to: str


class Trip(msgspec.Struct, frozen=True):
    legs: tuple[Leg, ...]
    days: Annotated[int, Meta(ge=1)]
    names: tuple[str, ...] = ()


GOOD = {"legs": [{"to": "Lyon"}], "days": 2, "names": ["Ada"]}


def is_valid(document: Any, schema: dict[str, Any]) -> bool:
    return jsonschema.Draft202012Validator(schema).is_valid(document)


def test_the_schema_is_an_object_with_all_that_it_refers_to() -> None:
    schema = form_of(Trip).schema
    assert schema["type"] == "object"
    assert is_valid(GOOD, schema)
    assert not is_valid({**GOOD, "legs": [{"to": 5}]}, schema)
    assert not is_valid({**GOOD, "days": 0}, schema)


def test_a_field_may_be_narrower() -> None:
    schema = form_of(Trip, names=texts(1, 2)).schema
    assert [is_valid({**GOOD, "names": ["x"] * count}, schema) for count in range(4)] == [
        False,
        True,
        True,
        False,
    ]


def test_something_is_made_of_what_is_read() -> None:
    days = form_of(Trip).then(lambda trip: trip.days if trip.days < 9 else FormatError("Too long."))
    assert days.read(f"Here: {json.dumps(GOOD)}.") == 2
    assert days.read(json.dumps({**GOOD, "days": 9})) == FormatError("Too long.")
    assert days.schema == form_of(Trip).schema


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON object"),
        ("}{", "no JSON object"),
        ("{", "no JSON object"),
        ("{'days': 2}", "not valid JSON"),
        ('{"legs": [], "days": "2"}', "Expected `int`, got `str`"),
        ("[" * 5_000 + "{" + "[" * 5_000 + "}", "not valid JSON"),
        ("x" * (MOST_TEXT + 1), "at most 100,000 are read"),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str) -> None:
    found = form_of(Trip).read(text)
    assert isinstance(found, FormatError)
    assert said in found.text
    assert len(found.text) < 1_000


def test_thoughts_are_passed_over() -> None:
    assert form_of(Leg).read('<think>{"to": "Rome"}?</think>{"to": "Lyon"}') == Leg("Lyon")


QUESTION = (
    'The tool takes "USD". Answer so:\n{"requests": ["FIRST MESSAGE", "SECOND MESSAGE", ...], "why": "WHY"}\n'
)


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        ('{"requests": ["FIRST MESSAGE"], "why": "so"}', "FIRST MESSAGE"),
        ('{"requests": ["hi"], "why": "WHY"}', "WHY"),
    ],
)
def test_a_form_that_is_copied_is_not_filled_in(answer: str, word: str) -> None:
    found = find_copied(QUESTION, answer)
    assert found is not None
    assert word in found.text


@pytest.mark.parametrize("answer", ['{"requests": ["USD"]}', '{"requests": ["a FIRST MESSAGE"]}', "", "WHY"])
def test_words_in_capitals_are_no_copies(answer: str) -> None:
    assert find_copied(QUESTION, answer) is None
