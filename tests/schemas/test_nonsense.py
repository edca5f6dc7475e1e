"""Schemas that make no sense: what is malformed demands nothing, and nothing breaks."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.core.rng import Dice
from misstep.errors import UsageError
from misstep.schemas.examples import make_up
from misstep.schemas.schema import fits
from tests.tiers import many_examples

KEYWORDS = [
    "type", "enum", "const", "required", "properties", "patternProperties", "additionalProperties", "items",
    "prefixItems", "anyOf", "oneOf", "allOf", "not", "$ref", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems",
    "uniqueItems", "minProperties", "maxProperties", "nullable", "default", "example", "examples", "format",
    "$defs",
]  # fmt: skip
WORDS = ["string", "integer", "array", "object", "null", "x", "#", "#/$defs/a", "(", "^a", ""]
ODD_PATTERN = f"a{{{'9' * 5000}}}"

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 40),
    st.floats(),
    st.sampled_from([10**30, 10**320, 1e-300]),
    st.sampled_from([*WORDS, ODD_PATTERN]),
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*KEYWORDS, "x", "a"]), inner, max_size=4)
    ),
    max_leaves=15,
)
objects = st.dictionaries(st.sampled_from(KEYWORDS), anything, max_size=5)


@many_examples(600, deadline=None)
@given(objects, anything, anything)
def test_any_json_can_be_a_schema(schema: dict[str, Any], definition: Any, value: Any) -> None:
    whole = {"properties": {"x": schema}, "required": ["x"], "$defs": {"a": definition}}
    for each in (schema, {"x": value}, value):
        said = fits(whole, each)
        assert said is None or isinstance(said, str)
    for each in (whole, schema):
        try:
            arguments = make_up(each, Dice(1))
        except UsageError:
            continue
        assert fits({**each, "type": "object"}, arguments) is None


MALFORMED: list[dict[str, Any]] = [
    {"properties": 5, "additionalProperties": {"type": "integer"}},
    {"properties": "abc", "additionalProperties": {"type": "integer"}},
    {"required": [["y"]]},
    {"required": 5},
    {"required": "y"},
    {"patternProperties": {5: False}},
    {"patternProperties": 5, "additionalProperties": True},
    {"prefixItems": 5, "items": {"type": "integer"}},
    {"prefixItems": {"a": 1, "b": 2}, "items": {"type": "integer"}},
    {"enum": "x"},
    {"type": 5},
    {"type": "strng"},
    {"type": []},
    {"anyOf": []},
    {"oneOf": {}},
    {"minItems": "2", "minLength": []},
    {"maxItems": {}, "maxProperties": None},
    {"pattern": ODD_PATTERN},
    {"allOf": [{"properties": 5}, {"properties": {}}]},
    {"allOf": [{"required": 5}, {"required": []}]},
]


@pytest.mark.parametrize("schema", MALFORMED, ids=str)
def test_what_is_malformed_demands_nothing(schema: dict[str, Any]) -> None:
    assert fits(schema, {"abcd": 1}) is None
    assert fits(schema, [1, 2]) is None
    assert make_up({"properties": {"x": schema}, "required": ["x"]}, Dice(0)).keys() == {"x"}


def test_what_is_well_formed_beside_it_still_counts() -> None:
    assert fits({"required": [["y"], "y"]}, {}) == "y is missing"
    assert fits({"prefixItems": 5, "items": {"type": "integer"}}, ["a"]) == "[0] must be an integer"
    unexpected = "'a' is not expected"
    assert fits({"properties": "abc", "additionalProperties": False}, {"a": 1}) == unexpected
    assert fits({"patternProperties": ["a"], "additionalProperties": False}, {"a": 1}) == unexpected


def test_a_schema_that_is_made_to_take_long_is_given_up() -> None:
    """Every level has ten times as many ways as the one below."""
    inner: Any = {"pattern": "^Z{9}$"}
    for _ in range(10):
        inner = {"anyOf": [dict(inner) for _ in range(2)] * 5}
    with pytest.raises(UsageError):
        make_up({"properties": {"x": inner}, "required": ["x"]}, Dice(0))


def test_a_value_that_is_too_deep_is_given_up() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(UsageError):
        make_up({"properties": {"x": {"const": deep}}, "required": ["x"]}, Dice(0))
