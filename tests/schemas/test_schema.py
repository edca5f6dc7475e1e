"""Whether values fit schemas: our own look against an independent library, and the words it finds."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from misstep.schemas.formats import is_readable, matches
from misstep.schemas.schema import fits
from tests.schemas.schema_cases import (
    WORDS,
    list_schemas,
    number_schemas,
    numbers,
    parts,
    schemas,
    text_schemas,
    values,
)
from tests.tiers import many_examples

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "unit": {"type": "string", "enum": ["c", "f"]},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "stops": {"type": "array", "items": {"$ref": "#/$defs/Stop"}, "maxItems": 2},
    },
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {
        "Stop": {
            "type": "object",
            "properties": {"at": {"type": "number"}},
            "required": ["at"],
            "additionalProperties": False,
        }
    },
}


def opinion(schema: Any, value: Any, root: dict[str, Any]) -> bool:
    """What the library says."""
    jsonschema = pytest.importorskip("jsonschema")
    whole = schema if schema is root else {"$defs": root["$defs"], "allOf": [schema]}
    return bool(jsonschema.Draft202012Validator(whole).is_valid(value))


@many_examples(400, deadline=None)
@given(schemas(), st.dictionaries(st.sampled_from(["city", "days", "tags", "unit", "x"]), values, max_size=4))
def test_whole_arguments_are_judged_as_the_library_does(schema: dict[str, Any], value: Any) -> None:
    assert (fits(schema, value) is None) == opinion(schema, value, schema)


@many_examples(600, deadline=None)
@given(schemas(), parts, values)
@example({"$defs": {}}, {"type": "integer"}, 3.0)
@example({"$defs": {}}, {"type": "integer"}, True)
@example({"$defs": {}}, {"enum": [1]}, True)
@example({"$defs": {}}, {"const": 0}, False)
@example({"$defs": {}}, {"const": [1, {"a": 1.0}]}, [1.0, {"a": 1}])
@example({"$defs": {}}, {"uniqueItems": True}, [1, True])
@example({"$defs": {}}, {"uniqueItems": True}, [{"a": 1}, {"a": 1.0}])
def test_parts_are_judged_as_the_library_does(root: dict[str, Any], schema: Any, value: Any) -> None:
    assert (fits(schema, value, root) is None) == opinion(schema, value, root)


@many_examples(500, deadline=None)
@given(
    st.one_of(
        st.tuples(number_schemas, numbers),
        st.tuples(text_schemas, st.sampled_from(WORDS)),
        st.tuples(list_schemas, st.lists(numbers, max_size=4)),
    )
)
def test_limits_are_kept_as_the_library_keeps_them(pair: tuple[Any, Any]) -> None:
    assert (fits(*pair) is None) == opinion(*pair, pair[0])


@many_examples(200, deadline=None)
@given(schemas(), values)
def test_what_is_said_is_one_short_line(schema: dict[str, Any], value: Any) -> None:
    said = fits(schema, value)
    assert said is None or (said.isprintable() and 0 < len(said) < 400)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"city": "Oslo"}, None),
        ({"city": "Oslo", "days": 3.0, "unit": "c", "note": None, "stops": [{"at": 1}]}, None),
        ({}, "city is missing"),
        ([], "the value must be an object"),
        ("{}", "the value must be an object"),
        ({"city": 5}, "city must be a string"),
        ({"city": "O"}, "city must have at least 2 characters"),
        ({"city": "Oslo", "days": "3"}, "days must be an integer"),
        ({"city": "Oslo", "days": True}, "days must be an integer"),
        ({"city": "Oslo", "days": 0}, "days must be at least 1"),
        ({"city": "Oslo", "days": 15}, "days must be at most 14"),
        ({"city": "Oslo", "unit": "k"}, "unit must be one of 'c', 'f'"),
        ({"city": "Oslo", "note": 1}, "note must be a string or null"),
        ({"city": "Oslo", "foo": 1}, "'foo' is not expected"),
        ({"city": "Oslo", "stops": [{"at": 1}, {}]}, "stops[1].at is missing"),
        ({"city": "Oslo", "stops": [{"at": 1, "by": 2}]}, "'by' is not expected in stops[0]"),
        ({"city": "Oslo", "stops": [{"at": 1}] * 3}, "stops must have at most 2 items"),
    ],
)
def test_words(value: Any, said: str | None) -> None:
    assert fits(WEATHER, value) == said


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"type": "string", "nullable": True}, None, None),
        ({"$ref": "#/definitions/a", "definitions": {"a": {"type": "null"}}}, 1, "the value must be null"),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"const": 1}}}, 2, "the value must be 1"),
        ({"$ref": "https://example.com/schema.json"}, 1, None),
        ({"$ref": "#/$defs/nowhere"}, 1, None),
        ({"items": [{"type": "string"}]}, [1], "[0] must be a string"),
        ({"multipleOf": 0.1}, 0.3, None),
        ({"multipleOf": 0.1}, 0.35, "the value must be a multiple of 0.1"),
        ({"format": "email", "x-foo": 1, "title": 5}, "nobody", None),
        ({"type": "strng"}, 5, None),
        ({"pattern": "("}, "anything", None),
        ({"pattern": "^a+$"}, "b", "the value must match '^a+$'"),
        (
            {"oneOf": [{"type": "number"}, {"type": "integer"}]},
            1,
            "the value must match only one of the allowed forms",
        ),
        ({"not": {"type": "string"}}, "a", "the value has a form that is not allowed"),
        ({"uniqueItems": True}, [1, 2, 1.0], "the value must not contain duplicates"),
        ({"const": "it's"}, 1, 'the value must be "it\'s"'),
    ],
)
def test_corners(schema: dict[str, Any], value: Any, said: str | None) -> None:
    assert fits(schema, value) == said


@pytest.mark.parametrize("keyword", ["type", "enum", "properties", "required", "items", "prefixItems", "anyOf", "oneOf", "allOf", "$ref", "pattern", "minimum", "minLength", "multipleOf", "additionalProperties", "patternProperties"])  # fmt: skip
@pytest.mark.parametrize("nonsense", [None, 5, "x", [], {}, [5], True])
@pytest.mark.parametrize("value", ["x", 5, [1], {"x": 1}, None])
def test_keywords_that_make_no_sense_break_nothing(keyword: str, nonsense: Any, value: Any) -> None:
    said = fits({keyword: nonsense}, value)
    assert said is None or isinstance(said, str)


NODE = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
            "required": ["next"],
        }
    },
    "$ref": "#/$defs/node",
}


def chain(length: int, end: Any = None) -> Any:
    return end if length == 0 else {"next": chain(length - 1, end)}


def test_schemas_that_refer_to_themselves() -> None:
    assert fits(NODE, chain(20)) is None
    assert fits(NODE, chain(2, {})) == "next.next.next is missing"
    assert fits(NODE, chain(200)) is not None
    assert fits({"$ref": "#"}, 1) == "the value is nested too deeply"


def test_a_value_that_is_made_to_take_long_is_refused() -> None:
    """Every level doubles the work."""
    either = {"type": "array", "items": {"$ref": "#/$defs/list"}}
    schema = {"$defs": {"list": {"anyOf": [either, {**either, "minItems": 1}]}}, "$ref": "#/$defs/list"}
    value: Any = 5
    for _ in range(40):
        value = [value]
    assert fits(schema, value) is not None


def test_deep_values_of_an_agent_break_nothing() -> None:
    deep: Any = json.loads("[" * 900 + "]" * 900)
    assert fits({"type": "array"}, deep) is None
    assert isinstance(fits({"uniqueItems": True}, [deep, json.loads(json.dumps(deep))]), str)


CATASTROPHES = [
    "(a+)+$", "^(a|a)*$", "^(a|a|a)*$", "^(a|ab)+c", "(a+a+)+y", "^([a-z]+)*$", "(a?){30}b", "^((a+)+)+$", "(a{1,9}){1,9}$",
    "^(?:(?:a|a)(?:a|a))*$", "((a|a|a)+(a|a|a)+)+$",
]  # fmt: skip


@pytest.mark.parametrize("pattern", CATASTROPHES)
@pytest.mark.parametrize("length", [5, 8, 12, 16, 19, 20, 25, 1000, 100_000])
def test_patterns_that_could_take_for_ever_are_held_against_short_texts_only(
    pattern: str, length: int
) -> None:
    """Were they held against long ones, this would not end."""
    assert fits({"pattern": pattern}, "a" * (length - 1) + "!") in (None, f"the value must match {pattern!r}")


@pytest.mark.parametrize(
    ("pattern", "longest"),
    [
        ("^[A-Z]{3}-[0-9]{4}$", 5000),
        (r"^[^@\s]+@[^@\s]+$", 1000),
        (r"^https?://.+", 1000),
        ("^a*a*a*$", 200),
        ("^[a-z0-9]+(-[a-z0-9]+)*$", 19),
    ],
)
def test_patterns_of_everyday_are_held_against_long_texts_too(pattern: str, longest: int) -> None:
    assert matches(pattern, "a" * longest) is not None


def test_patterns_that_python_can_t_read() -> None:
    assert not is_readable(r"^\p{L}+$")
    assert matches(r"^\p{L}+$", "abc") is None


def test_patterns_that_python_warns_of() -> None:
    assert matches("^[[a]$", "[") is True
