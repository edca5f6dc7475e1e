"""Which demand of a schema is broken, and what schemas refer to."""

from typing import Any

import pytest

from misstep.schemas.formats import same
from misstep.schemas.schema import alone, find_breach, fits
from misstep.schemas.shape import resolve

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "day": {"type": "string", "format": "date"},
        "room": {"$ref": "#/$defs/room"},
        "tags": {"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "string"}},
    },
    "required": ["day"],
    "additionalProperties": False,
    "$defs": {
        "room": {"$ref": "#/$defs/number"},
        "number": {"type": "integer", "minimum": 1},
        "loop": {"$ref": "#/$defs/loop"},
    },
}
DAY = "2027-01-11"


@pytest.mark.parametrize(
    ("value", "breach"),
    [
        ({"day": DAY, "room": 1, "tags": [1, "a"]}, None),
        ({}, ("required", ("day",))),
        ({"day": DAY, "size": 1}, ("additionalProperties", ("size",))),
        ({"day": DAY, "room": 0}, ("minimum", ("room",))),
        ({"day": DAY, "tags": [1, 2]}, ("type", ("tags", 1))),
        ({"day": "Monday"}, ("format", ("day",))),
    ],
)
def test_the_demand_and_its_place(value: Any, breach: object) -> None:
    assert find_breach(SCHEMA, value, SCHEMA) == breach


def test_a_keyword_alone_means_what_it_meant() -> None:
    assert fits(alone("additionalProperties", SCHEMA), {"day": 3}) is None
    assert fits(alone("additionalProperties", SCHEMA), {"size": 3}) is not None
    assert fits(alone("items", SCHEMA["properties"]["tags"]), [1, "a"]) is None
    assert fits(alone("items", SCHEMA["properties"]["tags"]), [1, 2]) is not None


def test_references_are_followed_to_their_end() -> None:
    assert resolve({"$ref": "#/$defs/room"}, SCHEMA) == {"type": "integer", "minimum": 1}
    assert resolve({"$ref": "#/$defs/nothing"}, SCHEMA) is None
    assert resolve({"type": "string"}, SCHEMA) == {"type": "string"}
    assert "$ref" in resolve({"$ref": "#/$defs/loop"}, SCHEMA)


def test_what_is_the_same_in_json() -> None:
    assert same({"a": [1, None]}, {"a": [1.0, None]})
    assert not same(1, True)
    assert not same([0], [False])
