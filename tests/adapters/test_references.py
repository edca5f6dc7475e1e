"""Nothing is left beside a reference, and nothing else changes."""

import copy
from typing import Any

import pytest

from misstep.adapters.arguments import merge_references

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


def doubling(levels: int) -> dict[str, Any]:
    """A schema in which every definition refers twice to the one below it."""
    definitions: dict[str, Any] = {"level0": {"type": "string"}}
    for level in range(1, levels + 1):
        below = {"$ref": f"#/$defs/level{level - 1}", **SAID}
        definitions[f"level{level}"] = {"type": "object", "properties": {"left": below, "right": dict(below)}}
    top = {"$ref": f"#/$defs/level{levels}", **SAID}
    return {"type": "object", "properties": {"top": top}, "$defs": definitions}


def parts_in(schema: Any) -> int:
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    return 1 + sum(parts_in(each) for each in inner)


def test_a_schema_that_doubles_does_not_grow_without_end() -> None:
    """It would have more parts than any computer has room for."""
    merged = merge_references(doubling(100))
    assert parts_in(merged) < 50_000
    assert merged["properties"]["top"]["type"] == "object"


def test_a_small_one_is_merged_all_the_way() -> None:
    top = merge_references(doubling(3))["properties"]["top"]
    assert "$ref" not in str(top)


def test_a_long_way_breaks_nothing() -> None:
    definitions: dict[str, Any] = {
        f"d{number}": {"properties": {"next": {"$ref": f"#/$defs/d{number + 1}", **SAID}}}
        for number in range(1000)
    }
    merged = merge_references({"properties": {"a": {"$ref": "#/$defs/d0", **SAID}}, "$defs": definitions})
    assert merged["properties"]["a"]["properties"]["next"]["description"] == "A name."
