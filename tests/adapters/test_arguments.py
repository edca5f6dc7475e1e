"""Arguments and their schemas on the way through adapters: nothing is added, mended or lost."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.adapters.arguments import open_model, read_arguments, takes_arguments
from misstep.adapters.builtin.prompts import list_tools
from misstep.core.agent import Tool
from tests.tiers import many_examples

jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
NOTHING: list[dict[str, Any]] = [
    {},
    {"type": "object"},
    {"type": "object", "properties": {}, "additionalProperties": False},
    {"title": "Bell", "description": "Takes nothing.", "properties": {}, "required": [], "$schema": "x"},
]
SOMETHING: list[dict[str, Any]] = [
    {"properties": {"title": {}}},
    {"additionalProperties": {"type": "string"}},
    {"additionalProperties": True},
    {"$ref": "#/$defs/all", "$defs": {"all": {"properties": {"a": {}}}}},
    {"anyOf": [{"properties": {"a": {}}}]},
]


@given(jsons)
def test_json_is_read_as_it_was_written(value: Any) -> None:
    assert repr(read_arguments(json.dumps(value))) == repr(value)
    assert read_arguments({"a": value}) == {"a": value}


@pytest.mark.parametrize("given", ['{"a": ', "a=1", "{'a': 1}", "[" * 100_000])
def test_what_is_no_json_stays_the_text_it_is(given: str) -> None:
    assert read_arguments(given) == given


@pytest.mark.parametrize("given", [None, "", " \n"])
def test_nothing_is_no_arguments(given: str | None) -> None:
    assert read_arguments(given) == {}


@pytest.mark.parametrize("schema", NOTHING)
def test_what_takes_nothing_has_nothing_to_be_said_about(schema: dict[str, Any]) -> None:
    assert not takes_arguments(schema)
    assert list_tools([Tool("bell", "Ring it.", schema)]) == "- bell: Ring it."


@pytest.mark.parametrize("schema", SOMETHING)
def test_what_takes_something_is_told_with_all_of_its_schema(schema: dict[str, Any]) -> None:
    assert takes_arguments(schema)
    line = list_tools([Tool("bell", "Ring it.", schema)])
    said, _, told = line.partition(" Arguments: ")
    assert (said, json.loads(told)) == ("- bell: Ring it.", schema)


@many_examples(100)
@given(st.dictionaries(st.text(), jsons))
def test_an_open_model_lets_everything_pass(arguments: dict[str, Any]) -> None:
    pytest.importorskip("pydantic")
    kind = open_model({"properties": {"a": {"type": "string", "default": "x"}}, "required": ["b"]})
    assert repr(kind.model_validate(arguments).model_dump(exclude_unset=True)) == repr(arguments)


def test_an_open_model_keeps_its_schema_to_itself() -> None:
    pytest.importorskip("pydantic")
    schema: dict[str, Any] = {"properties": {"a": {"enum": [1]}}}
    kind = open_model(schema)
    kind.model_json_schema()["properties"].clear()
    assert kind.model_json_schema() == schema == {"properties": {"a": {"enum": [1]}}}
