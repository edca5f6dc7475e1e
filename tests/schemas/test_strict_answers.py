"""Schemas as strict servers want them."""

from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta

from misstep.schemas.answers import LONGEST, form_of, is_strict, seal, texts, without_lengths


class Stop(msgspec.Struct, frozen=True):
    name: str
    title: str = ""


class Route(msgspec.Struct, frozen=True):
    stops: tuple[Stop, ...]
    why: Annotated[str, Meta(max_length=20_000)] = ""


def test_every_property_is_required_and_none_is_added() -> None:
    schema = form_of(Route).schema
    (stop,) = schema["$defs"].values()
    assert (schema["required"], schema["additionalProperties"]) == (["stops", "why"], False)
    assert (stop["required"], stop["additionalProperties"]) == (["name", "title"], False)
    assert is_strict(schema)
    assert "default" not in str(schema), "strict servers refuse it"


def test_no_text_is_without_end() -> None:
    schema = form_of(Route, why=texts(1, 2)).schema
    assert schema["properties"]["why"]["items"]["maxLength"] == LONGEST
    assert form_of(Route).schema["properties"]["why"]["maxLength"] == LONGEST
    assert seal({"type": "string", "maxLength": 5}) == {"type": "string", "maxLength": 5}
    assert seal({"type": "string", "pattern": "^a{1,3}$"}) == {"type": "string", "pattern": "^a{1,3}$"}


@pytest.mark.parametrize(
    "loose",
    [
        {"type": "object"},
        {"type": "object", "properties": {"a": {}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        {"type": "array", "items": {"type": "object"}},
        {"anyOf": [{"type": "null"}, {"type": ["object", "null"]}]},
    ],
)
def test_what_is_not_strict(loose: dict[str, Any]) -> None:
    assert not is_strict(loose)
    outer = {"type": "object", "properties": {"x": loose}, "required": ["x"], "additionalProperties": False}
    assert not is_strict(outer)


def test_lengths_are_left_out_everywhere() -> None:
    schema = form_of(Route).schema
    assert "maxLength" in str(schema)
    assert "maxLength" not in str(without_lengths(schema))
    assert is_strict(without_lengths(schema))
