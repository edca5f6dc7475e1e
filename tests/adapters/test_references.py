"""Nothing is left beside a reference, and nothing else changes."""

import copy
from typing import Any

import pytest

from misstep.adapters.references import merge_references

TEXT = {"type": "string", "description": "Some text."}
NAME = {"type": "string", "description": "A name."}
SAID = {"description": "A name."}


@pytest.mark.parametrize(
    ("part", "merged"),
    [
        ({"$ref": "#/$defs/text"}, {"$ref": "#/$defs/text"}),
        ({"$ref": "#/$defs/text", **SAID}, NAME),
        ({"$ref": "#/$defs/a~1b", **SAID}, NAME),
        ({"$ref": "#/$defs/short", **SAID}, {**NAME, "maxLength": 5}),
        (
            {"anyOf": [{"$ref": "#/$defs/text", **SAID}, {"type": "null"}]},
            {"anyOf": [NAME, {"type": "null"}]},
        ),
        ({"type": "array", "items": {"$ref": "#/$defs/text", **SAID}}, {"type": "array", "items": NAME}),
        ({"$ref": "#/properties/other", **SAID}, {"type": "integer", **SAID}),
        ({"$ref": "#/nowhere/at/all", **SAID}, {"$ref": "#/nowhere/at/all", **SAID}),
        ({"$ref": "elsewhere.json#/$defs/text", **SAID}, {"$ref": "elsewhere.json#/$defs/text", **SAID}),
        ({"const": {"$ref": 1, "a": 2}}, {"const": {"$ref": 1, "a": 2}}),
        (True, True),
    ],
)
def test_what_it_leads_to_is_in_the_place_of_both(part: Any, merged: Any) -> None:
    definitions = {"text": TEXT, "a/b": TEXT, "short": {"$ref": "#/$defs/text", "maxLength": 5}}
    schema = {"properties": {"part": part, "other": {"type": "integer"}}, "$defs": definitions}
    before = copy.deepcopy(schema)
    assert merge_references(schema)["properties"] == {"part": merged, "other": {"type": "integer"}}
    assert schema == before


@pytest.mark.parametrize("reference", ["#/$defs/node", "#"])
def test_what_contains_itself_comes_to_an_end(reference: str) -> None:
    node = {"type": "array", "items": {"$ref": reference, **SAID}}
    schema = {"properties": {"root": {"$ref": "#/$defs/node", **SAID}}, "$defs": {"node": node}}
    root = merge_references(schema)["properties"]["root"]
    assert (root["type"], root["description"]) == ("array", "A name.")
    assert reference in str(root["items"])
