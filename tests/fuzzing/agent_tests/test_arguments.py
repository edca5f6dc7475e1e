"""Arguments that models are asked for, held to the schema of the tool."""

from typing import Any

import jsonschema
import pytest

from misstep.fuzzing.agent_tests.requests import arguments_schema, given_arguments
from misstep.schemas.answers import is_strict

BOOKING: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "title": "City"},
        "nights": {"type": "integer", "default": 1},
        "board": {"enum": ["none", "half"]},
        "guests": {"type": "array", "items": {"$ref": "#/$defs/Guest"}},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["city", "note"],
    "$defs": {"Guest": {"type": "object", "properties": {"name": {"type": "string"}}}},
}
ALL = {"city": "Rome", "nights": 2, "board": "half", "guests": [{"name": "Ada"}], "note": None}


def test_what_may_be_left_out_may_be_null() -> None:
    schema = arguments_schema(BOOKING)
    assert is_strict(schema)
    valid = jsonschema.Draft202012Validator(schema).is_valid
    assert valid(ALL)
    assert valid({**ALL, "nights": None, "board": None, "guests": None})
    assert not valid({**ALL, "city": None})
    assert not valid({**ALL, "board": "full"})
    assert given_arguments({**ALL, "nights": None}, BOOKING) == {
        name: value for name, value in ALL.items() if name != "nights"
    }


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {"any": {}}},
        {"type": "object", "properties": {"map": {"type": "object", "additionalProperties": True}}},
        {"$ref": "#"},
        {"type": "object", "properties": {"child": {"$ref": "#"}}},
    ],
)
def test_any_object_where_no_strict_schema_says_it(parameters: dict[str, Any]) -> None:
    assert arguments_schema(parameters) == {"type": "object"}
    assert not is_strict(arguments_schema(parameters))
