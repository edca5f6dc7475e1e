"""Marks outlive what checks the arguments of a tool."""

from typing import Any

import pydantic
import pytest

from misstep.core.tool import Path
from misstep.fuzzing.taint import observe


class Inner(pydantic.BaseModel):
    tag: str
    size: int = 3


class Outer(pydantic.BaseModel):
    name: str
    inner: Inner
    words: list[str] = []
    counts: dict[str, float] = {}
    other: str = pydantic.Field("", alias="otherName")


GIVEN = {"name": "a", "inner": {"tag": "b"}, "words": ["c"], "counts": {"d": 1}, "otherName": "e"}


def touched(model: Any) -> None:
    assert model.name != "x"
    assert model.inner.tag != "x"
    assert model.words[0] != "x"
    assert model.counts["d"] != 7
    assert model.other != "x"


@pytest.mark.parametrize(
    "make",
    [
        lambda given: Outer.model_validate(given),
        lambda given: Outer(**given),
        lambda given: pydantic.TypeAdapter(Outer).validate_python(given),
    ],
)
def test_fields_of_models_are_marked_again(make: Any) -> None:
    with observe() as marks:
        model = make(marks.arguments(GIVEN))
        touched(model)
    compared: set[Path] = {one.path for one in marks.observations if one.operation == "!="}
    assert compared == {("name",), ("inner", "tag"), ("words", 0), ("counts", "d"), ("otherName",)}
    assert model == Outer.model_validate(GIVEN)


def test_what_was_converted_is_known_to_have_been() -> None:
    with observe() as marks:
        model = Inner.model_validate(marks.arguments({"tag": "a", "size": "5"}))
        assert model.size > 4
    assert [(one.path, one.via) for one in marks.observations if one.operation == ">"] == [
        (("size",), (("changed", "[]"),))
    ]


def test_models_are_put_back() -> None:
    before = vars(pydantic.BaseModel)["__init__"], vars(pydantic.BaseModel)["model_validate"]
    with observe():
        assert vars(pydantic.BaseModel)["__init__"] is not before[0]
        Late = pydantic.create_model("Late", name=(str, ...))
    assert (vars(pydantic.BaseModel)["__init__"], vars(pydantic.BaseModel)["model_validate"]) == before
    assert Late(name="a").name == "a"


def test_errors_are_the_same() -> None:
    with pytest.raises(pydantic.ValidationError) as expected:
        Outer.model_validate({"name": 1})
    with observe() as marks, pytest.raises(pydantic.ValidationError) as told:
        Outer.model_validate(marks.arguments({"name": 1}))
    assert str(told.value) == str(expected.value)
