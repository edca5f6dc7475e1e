"""Strategies keep their word: what is valid fits, what is at an edge fits, what is invalid breaks one demand."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from misstep.fuzzing.inputs.strategies import draw_values, invalid, valid
from misstep.schemas.formats import has_format
from misstep.schemas.schema import find_breach, fits
from tests.schemas.schema_cases import schemas
from tests.schemas.test_examples import kind_schemas
from tests.schemas.test_nonsense import anything, objects
from tests.schemas.test_schema import opinion

# Many schemas of the zoo have no value at all, and hold much.
patient = settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large],
)
nested = settings(patient, suppress_health_check=list(HealthCheck), max_examples=20)


@patient
@given(st.data(), schemas())
def test_valid_values_fit(data: st.DataObject, schema: dict[str, Any]) -> None:
    value = data.draw(valid(schema, schema))
    assert fits(schema, value) is None
    assert opinion(schema, value, schema)


@patient
@given(st.data(), schemas())
def test_values_at_an_edge_fit(data: st.DataObject, schema: dict[str, Any]) -> None:
    assert fits(schema, data.draw(valid(schema, schema, edgy=True))) is None


@patient
@given(st.data(), schemas())
def test_invalid_values_do_not_fit(data: st.DataObject, schema: dict[str, Any]) -> None:
    breach = data.draw(invalid(schema, schema))
    assert fits(schema, breach.value) is not None
    assert find_breach(schema, breach.value, schema) is not None


@nested
@given(kind_schemas(), st.integers(0, 2**32))
def test_where_there_is_a_value_one_is_found(schema: dict[str, Any], seed: int) -> None:
    for strategy in (valid(schema, schema), valid(schema, schema, edgy=True)):
        assert draw_values(strategy, seed, 4)


@nested
@given(objects, anything)
def test_schemas_that_make_no_sense_break_nothing(schema: dict[str, Any], definition: Any) -> None:
    whole = {"type": "object", "properties": {"x": schema}, "required": ["x"], "$defs": {"a": definition}}
    for value in (
        *draw_values(valid(whole, whole), 1, 2),
        *draw_values(valid(whole, whole, edgy=True), 1, 2),
    ):
        assert fits(whole, value) is None
    for breach in draw_values(invalid(whole, whole), 1, 2):
        assert fits(whole, breach.value) is not None


BROKEN: dict[str, dict[str, Any]] = {
    "type": {"type": "boolean"},
    "enum": {"enum": ["kg", "lb"]},
    "const": {"const": "kg"},
    "minimum": {"minimum": 1},
    "maximum": {"maximum": 9},
    "exclusiveMinimum": {"exclusiveMinimum": 0.5},
    "exclusiveMaximum": {"exclusiveMaximum": 9},
    "multipleOf": {"multipleOf": 5},
    "minLength": {"minLength": 3},
    "maxLength": {"maxLength": 5},
    "pattern": {"pattern": "^[a-z]{3}-[0-9]+$"},
    "minItems": {"items": {}, "minItems": 2},
    "maxItems": {"items": {}, "maxItems": 2},
    "uniqueItems": {"items": {"type": "integer"}, "minItems": 1, "uniqueItems": True},
    "required": {"required": ["a"]},
    "additionalProperties": {"properties": {"a": {}}, "additionalProperties": False},
    "minProperties": {"minProperties": 1},
    "maxProperties": {"properties": {"a": {}}, "maxProperties": 2},
    "anyOf": {"anyOf": [{"enum": ["a"]}, {"enum": [1]}]},
    "not": {"not": {"type": "string"}},
}


@pytest.mark.parametrize("keyword", BROKEN)
def test_every_demand_can_be_broken_alone(keyword: str) -> None:
    schema = {"type": "object", "properties": {"x": BROKEN[keyword]}, "required": ["x"]}
    alone = {key: each for key, each in BROKEN[keyword].items() if key != keyword}
    without = {"type": "object", "properties": {"x": alone}, "required": ["x"]}
    told = [
        each
        for each in draw_values(invalid(schema, schema), 3, 40)
        if each.broken == keyword and each.at[:1] == ("x",)
    ]
    assert told or keyword == "anyOf"
    for breach in told:
        assert fits(schema, breach.value) is not None
        assert fits(without, breach.value) is None or keyword in ("type", "required")


def test_what_is_broken_lies_where_it_is_said() -> None:
    stop = {"type": "object", "properties": {"at": {"type": "number", "maximum": 5}}, "required": ["at"]}
    schema = {"type": "array", "items": {"$ref": "#/$defs/stop"}, "minItems": 2, "$defs": {"stop": stop}}
    found = {(each.broken, each.at): each.value for each in draw_values(invalid(schema, schema), 0, 80)}
    assert found["maximum", (0, "at")][0]["at"] > 5
    assert "at" not in found["required", (1, "at")][1]
    assert not isinstance(found["type", ()], list)


def drawn(schema: Any, count: int = 150) -> list[Any]:
    return draw_values(valid(schema, schema, edgy=True), 5, count)


def test_edges_of_numbers() -> None:
    assert {1, 2, 13, 14} <= set(drawn({"type": "integer", "minimum": 1, "maximum": 14}))
    assert {0, -1, 2**31, 2**63} <= set(drawn({"type": "integer"}))
    assert {"-0.0", "1e+308", "5e-324"} <= {repr(each) for each in drawn({"type": "number"}, 250)}
    assert all(0 < each <= 1 for each in drawn({"type": "number", "exclusiveMinimum": 0, "maximum": 1}))


def test_edges_of_texts() -> None:
    texts = drawn({"type": "string"}, 400)
    assert {"", "\0", "\ud800", "e\u0301", "\u202eabc", "\n", '"'} <= set(texts)
    assert any(len(text) >= 10_000 for text in texts)
    assert {2, 7} <= {len(text) for text in drawn({"type": "string", "minLength": 2, "maxLength": 7})}


def test_edges_of_lists_and_objects() -> None:
    sizes = {len(each) for each in drawn({"type": "array", "items": {"type": "null"}, "maxItems": 9})}
    assert {0, 1, 9} <= sizes
    three = {"type": "object", "properties": {name: {"type": "null"} for name in "abc"}, "required": ["a"]}
    assert {frozenset("a"), frozenset("abc")} <= {frozenset(each) for each in drawn(three)}
    assert None in drawn({"anyOf": [{"type": "string"}, {"type": "null"}]})


def depth(value: Any) -> int:
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def test_what_holds_its_own_kind_ends_and_may_be_deep() -> None:
    schema = {"type": "array", "items": {"$ref": "#"}}
    assert max(map(depth, drawn(schema, 40))) >= 6
    endless = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
    assert draw_values(valid(endless, endless), 0, 3) == []


@pytest.mark.parametrize(
    "pattern",
    [r"^\p{L}+$", r"^(?<year>\d{4})$", "(a+)+$", "[", "a{5000}", r"^é+$", "(?i)^ok$", "", r"^(a)\1$"],
)
def test_patterns_of_any_language_leave_values(pattern: str) -> None:
    schema = {"type": "string", "pattern": pattern}
    values = draw_values(valid(schema, schema), 0, 5)
    assert all(fits(schema, each) is None for each in values)
    assert values or pattern in ("a{5000}",)


def test_no_line_break_sneaks_in_before_the_end() -> None:
    assert not [
        text
        for text in draw_values(valid({"type": "string", "pattern": "^[a-z]*$"}, {}), 0, 60)
        if "\n" in text
    ]


@pytest.mark.parametrize(
    "form", ["date", "date-time", "time", "uuid", "email", "hostname", "ipv4", "ipv6", "uri", "regex", "json"]
)
def test_formats_are_kept_by_what_fits(form: str) -> None:
    schema = {"type": "string", "format": form}
    for strategy in (valid(schema, schema), valid(schema, schema, edgy=True)):
        texts = draw_values(strategy, 1, 20)
        assert texts
        assert all(has_format(form, text) for text in texts)


def test_a_format_that_is_missed_is_a_breach_of_its_own() -> None:
    schema = {"properties": {"day": {"type": "string", "format": "date"}}}
    assert find_breach(schema, {"day": "2023-02-29"}, schema) == ("format", ("day",))
    assert find_breach(schema, {"day": "2024-02-29"}, schema) is None
    assert find_breach(schema, {"day": 5}, schema) == ("type", ("day",))


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("date-time", "2024-01-15T10:30:00Z", "2024-01-15 10:30"),
        ("time", "23:59:59.5+01:00", "24:00:00Z"),
        ("email", "a+b@example.com", "a@b@example.com"),
        ("ipv4", "127.0.0.1", "256.1.1.1"),
        ("uri", "https://example.com/a", "example.com"),
        ("uri", "mailto:a@example.com", "http://example.com:99999/"),
        ("byte", "aGVsbG8=", "aGVsbG8"),
        ("unheard-of", "x", ""),
    ],
)
def test_formats(form: str, good: str, bad: str) -> None:
    assert has_format(form, good)
    assert has_format(form, bad) == (form == "unheard-of")
