"""Arguments that are made up: they fit, they can be said, and the same dice give the same."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.core.rng import Dice
from misstep.errors import UsageError
from misstep.schemas.examples import make_up
from misstep.schemas.samples import CODES, PLAIN, range_for, texts_for, words_of
from misstep.schemas.schema import fits
from tests.schemas.schema_cases import schemas
from tests.schemas.test_schema import opinion
from tests.tiers import many_examples

seeds = st.integers(0, 2**32)
many_seeds = pytest.mark.parametrize("seed", range(25))


def of(**parameters: Any) -> dict[str, Any]:
    """The schema of a tool that requires all these."""
    return {"type": "object", "properties": parameters, "required": list(parameters)}


def made(schema: Any, seed: int = 0, name: str = "x", **more: Any) -> Any:
    return make_up({**of(**{name: schema}), **more}, Dice(seed))[name]


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_in(each)


@many_examples(400, deadline=None)
@given(schemas(), seeds)
def test_what_is_made_up_fits_and_can_be_said(schema: dict[str, Any], seed: int) -> None:
    try:
        arguments = make_up(schema, Dice(seed))
    except UsageError:  # many of these schemas have no value at all
        return
    assert fits(schema, arguments) is None
    assert opinion(schema, arguments, schema)
    assert set(arguments) == set(schema["required"])
    assert not [text for text in texts_in(arguments) if re.search(r"[`'\"\n\r]", text) or not text.strip()]
    assert arguments == make_up(schema, Dice(seed))


@st.composite
def kind_schemas(draw: st.DrawFn, deep: int = 2) -> dict[str, Any]:
    """Schemas that surely have a value."""
    low, room = draw(st.integers(-1000, 1000)), draw(st.integers(0, 50))
    least = draw(st.integers(0, 6))
    simple: list[dict[str, Any]] = [
        {"type": "string"},
        {"type": "string", "minLength": least, "maxLength": max(1, least)},
        {"type": "string", "format": draw(st.sampled_from(["date", "email", "uuid", "uri", "odd"]))},
        {"type": "string", "enum": ["a", "b", "it's"]},
        {"type": "integer", "minimum": low, "maximum": low + room},
        {"type": "integer", "exclusiveMinimum": low, "exclusiveMaximum": low + 2},
        {"type": "number", "minimum": low / 7, "maximum": low / 7 + room},
        {"type": "number", "exclusiveMinimum": low / 100, "exclusiveMaximum": low / 100 + 0.01},
        {"type": "integer", "minimum": low, "multipleOf": room + 1},
        {"type": "number", "maximum": low / 3, "multipleOf": (room + 1) / 4},
        {"type": "number", "multipleOf": 1000 + room},
        {"type": "boolean"},
        {"type": ["null", "integer"]},
        {"const": draw(st.sampled_from(["x", 0, True, None]))},
        {},
    ]
    if deep:
        inner = draw(kind_schemas(deep=deep - 1))
        simple += [
            {"type": "array", "items": inner, "minItems": least},
            {"type": "array", "items": {"type": "integer"}, "minItems": least, "uniqueItems": True},
            {"type": "array", "prefixItems": [inner, {"type": "string"}], "minItems": 2, "items": False},
            {"anyOf": [inner, {"type": "null"}]},
            {"allOf": [inner]},
            {"type": "object", "properties": {"name": inner, "spare": False}, "required": ["name"]},
            {"type": "object", "additionalProperties": inner, "minProperties": least},
        ]
    return draw(st.sampled_from(simple))


@many_examples(300, deadline=None)
@given(kind_schemas(), seeds)
def test_where_there_is_a_value_one_is_found(schema: dict[str, Any], seed: int) -> None:
    whole = of(x=schema)
    arguments = make_up(whole, Dice(seed))
    assert fits(whole, arguments) is None
    assert json.loads(json.dumps(arguments)) == arguments


def test_only_what_is_required_is_given() -> None:
    address = of(street={"type": "string"})
    address["properties"]["floor"] = {"type": "integer"}
    schema = of(address=address) | {"properties": {"address": address, "note": {"type": "string"}}}
    assert [*make_up(schema, Dice(0))] == ["address"]
    assert [*make_up(schema, Dice(0))["address"]] == ["street"]
    assert make_up({"type": "object", "properties": {"a": {"type": "string"}}}, Dice(0)) == {}
    assert make_up({}, Dice(0)) == {}


@many_seeds
def test_values_that_the_schema_names_come_first(seed: int) -> None:
    assert made({"enum": ["a", "b", None]}, seed) in ("a", "b")
    assert made({"const": 5, "default": 6}, seed) == 5
    assert made({"type": "string", "examples": ["p", "q"], "default": "r"}, seed) in ("p", "q")
    assert made({"type": "string", "default": "r"}, seed) == "r"
    assert made({"type": "string", "example": "s"}, seed) == "s"
    assert made({"type": "integer", "default": 0, "minimum": 5, "maximum": 5}, seed) == 5
    assert made({"type": "string", "default": ""}, seed)
    assert made({"type": "string", "enum": ["it's", "b"]}, seed) == "b"
    assert made({"anyOf": [{"type": "null"}, {"type": "integer"}], "default": None}, seed) is not None


def test_chance_decides_among_them() -> None:
    assert {made({"enum": ["a", "b", "c"]}, seed) for seed in range(40)} == {"a", "b", "c"}
    assert len({made({"type": "string"}, seed, "city") for seed in range(40)}) > 4


@many_seeds
@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("email", r"^[\w.]+@example\.com$"),
        ("toEmailAddress", r"^[\w.]+@example\.com$"),
        ("url", "^https://example.com/"),
        ("start_date", r"^\d{4}-\d{2}-\d{2}$"),
        ("departure_time", r"^\d{2}:\d{2}$"),
        ("currency", "^[A-Z]{3}$"),
        ("file_path", r"\.\w+$"),
        ("cities", "^[A-Z][a-z]+$"),
        ("zipCode", r"^\d{5}$"),
    ],
)
def test_names_tell_what_a_text_is_like(seed: int, name: str, pattern: str) -> None:
    assert re.search(pattern, made({"type": "string"}, seed, name))
    several = made({"type": "array", "items": {"type": "string"}}, seed, name)
    assert all(re.search(pattern, text) for text in several)


@many_seeds
def test_names_tell_what_a_number_is_like(seed: int) -> None:
    assert 1 <= made({"type": "integer"}, seed, "count") <= 12
    assert 2027 <= made({"type": "integer"}, seed, "publicationYear") <= 2032
    assert -90 <= made({"type": "number"}, seed, "latitude") <= 90
    assert made({"type": "integer", "minimum": 3, "maximum": 4}, seed, "count") in (3, 4)
    assert made({"type": "integer", "minimum": 1000}, seed, "count") >= 1000
    assert made({"type": "integer", "maximum": -5}, seed, "count") <= -5


@many_seeds
def test_lists_are_short_and_hold_nothing_twice_if_they_can(seed: int) -> None:
    tags = made({"type": "array", "items": {"type": "string"}}, seed, "tags")
    assert 1 <= len(tags) <= 3
    assert len(set(tags)) == len(tags)
    all_three = made({"items": {"enum": ["a", "b", "c"]}, "minItems": 3, "uniqueItems": True}, seed)
    assert sorted(all_three) == ["a", "b", "c"]
    assert made({"type": "array", "items": {"const": 1}, "minItems": 2}, seed) == [1, 1]
    assert made({"type": "array", "items": {"type": "string"}, "maxItems": 0}, seed) == []
    assert len(made({"type": "array", "minItems": 7}, seed)) == 7


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[A-Z]{3}-\d{3}$",
        r"^\d{5}$",
        "^[a-z0-9]+(?:-[a-z0-9]+)*$",
        "^#[0-9a-f]{6}$",
        "^[0-9a-fA-F]{24}$",
        "^[A-Z]{2}$",
        r"^\+[1-9]\d{6,14}$",
        r"^v?\d+\.\d+\.\d+$",
        "^[a-zA-Z_][a-zA-Z0-9_]*$",
    ],
)
def test_patterns_of_everyday(pattern: str) -> None:
    assert re.search(pattern, made({"type": "string", "pattern": pattern}))


def test_a_pattern_that_nobody_here_can_read_keeps_nobody_from_going_on() -> None:
    assert made({"type": "string", "pattern": r"^\p{L}+$"}, name="city") in texts_for("city")


@pytest.mark.parametrize(
    ("schema", "parameter"),
    [
        ({"type": "string", "pattern": "^Z{9}$"}, "x"),
        ({"type": "string", "enum": ["it's", "`"]}, "x"),
        ({"type": "string", "minLength": 5, "maxLength": 4}, "x"),
        ({"type": "string", "minLength": 100_000}, "x"),
        ({"type": "integer", "minimum": 5, "maximum": 4}, "x"),
        ({"type": "integer", "minimum": 10**400}, "x"),
        ({"type": "array", "items": {"const": 1}, "minItems": 2, "uniqueItems": True}, "x"),
        ({"type": "array", "items": {"pattern": "^Z{9}$"}, "minItems": 1}, "x[]"),
        ({"type": "array", "minItems": 1000}, "x"),
        (of(y=of(z={"pattern": "^Z{9}$"})), "x.y.z"),
        ({"type": "object", "required": ["y"], "additionalProperties": False}, "x.y"),
        ({"anyOf": [{"pattern": "^Z{9}$"}, False]}, "x"),
        ({"not": {}}, "x"),
        (False, "x"),
        ({"$ref": "#/$defs/node"}, "x.next.next.next…"),
        ({"allOf": [{"$ref": "#/$defs/self"}]}, "x"),
    ],
)
def test_where_there_is_none_the_parameter_is_named(schema: Any, parameter: str) -> None:
    definitions = {
        "node": {"properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["next"]},
        "self": {"allOf": [{"$ref": "#/$defs/self"}]},
    }
    with pytest.raises(UsageError) as caught:
        made(schema, **{"$defs": definitions})
    assert caught.value.message == f"can't make up a value for the parameter '{parameter}'"
    assert caught.value.hints == ("give it an example or a default in its schema",)


def test_an_example_helps() -> None:
    assert made({"type": "string", "pattern": "^Z{9}$", "examples": ["Z" * 9]}) == "Z" * 9


def test_a_list_that_may_end_ends() -> None:
    node = of(next={"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]})
    schema = {**of(x={"$ref": "#/$defs/node"}), "$defs": {"node": node}}
    for seed in range(20):
        assert fits(schema, make_up(schema, Dice(seed))) is None


def test_parameters_that_rule_each_other_out() -> None:
    with pytest.raises(UsageError, match="for the parameters together"):
        make_up({**of(x={"type": "string"}), "not": {"required": ["x"]}}, Dice(0))


def test_samples_can_be_said() -> None:
    names = (
        "city query email url path date time amount language currency user name id message text body title"
    )
    said = [text for name in [*names.split(), "phone", "sql", "question"] for text in texts_for(name)]
    odd = [
        text for text in [*said, *PLAIN, *CODES] if re.search(r"[`'\"“”„‘’«»\n]", text) or not text.strip()
    ]
    assert not odd
    assert texts_for("unheard_of") == PLAIN
    assert range_for("unheard_of") == range_for("")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("departureCities", ["departure", "city"]),
        ("user_id", ["user", "id"]),
        ("HTTPStatus", ["httpstatus"]),
        ("addresses", ["address"]),
        ("tags2", ["tag"]),
        ("", []),
    ],
)
def test_words_of_names(name: str, words: list[str]) -> None:
    assert words_of(name) == words


def test_the_same_dice_give_the_same_on_every_python() -> None:
    schema = of(
        city={"type": "string"},
        days={"type": "integer"},
        share={"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        tags={"type": "array", "items": {"type": "string"}},
    )
    assert json.dumps(make_up(schema, Dice(7))) == PINNED


PINNED = '{"city": "Toronto", "days": 1, "share": 0.1, "tags": ["weekly", "travel"]}'


@many_seeds
@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"type": "string"}},
        {"not": {"type": ["string", "integer"]}},
        {"not": {"type": ["string", "number", "boolean", "array", "object"]}},
        {"not": {"type": "object"}, "properties": {"a": False}, "required": ["a"]},
        {"allOf": [{"not": {"type": "string"}}, {"not": {"type": "integer"}}]},
        {"type": "array", "items": {"not": {"type": "string"}}, "minItems": 2},
    ],
)
def test_what_a_value_must_not_be_leaves_others(schema: dict[str, Any], seed: int) -> None:
    value = made(schema, seed)
    assert opinion(schema, value, {"$defs": {}})


def test_what_is_natural_comes_first_though_something_is_ruled_out() -> None:
    assert made({"not": {"type": "integer"}}, name="city") in texts_for("city")


@many_seeds
def test_lists_for_which_there_are_no_items_are_empty_if_they_may(seed: int) -> None:
    assert made({"type": "array", "items": {"type": "string", "pattern": "^Z{9}$"}}, seed) == []
    assert made({"type": "array", "items": False}, seed) == []
    node = of(children={"type": "array", "items": {"$ref": "#/$defs/node"}})
    schema = {**of(x={"$ref": "#/$defs/node"}), "$defs": {"node": node}}
    tree = make_up(schema, Dice(seed))["x"]
    assert 1 <= len(tree["children"]) <= 3
    assert len(json.dumps(tree)) < 400


@pytest.mark.parametrize("name", ["a`b", "a\nb", "", " "])
def test_names_within_a_value_can_be_said_too(name: str) -> None:
    with pytest.raises(UsageError):
        made(of(**{name: {"type": "string"}}))
    assert made({"enum": [{name: 1}, {"plain": 1}]}) == {"plain": 1}
