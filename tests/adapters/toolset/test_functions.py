"""Plain functions as tools: types against an independent library, signatures, what can't be said in JSON."""

import dataclasses
import datetime
import enum
import functools
import json
import pathlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NewType, Optional, TypedDict, TypeVar, Union

import msgspec
import pydantic
import pytest
import typing_extensions
from hypothesis import given
from hypothesis import strategies as st

from misstep.adapters.toolset.found import admitted
from misstep.adapters.toolset.functions import is_function, tool_of_function
from misstep.core.agent import Tool
from misstep.errors import UsageError
from tests.schemas.schema_cases import values
from tests.tiers import many_examples

jsonschema = pytest.importorskip("jsonschema")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5
    tags: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Node:
    """A place in a list."""

    value: int
    next: Optional["Node"] = None


class Film(typing_extensions.TypedDict):
    title: str
    year: typing_extensions.NotRequired[int]


class Stop(TypedDict, total=False):
    at: str


class Address(pydantic.BaseModel):
    street: str
    zip: str = pydantic.Field(pattern=r"^\d{5}$")


class Tree(pydantic.BaseModel):
    leaves: list["Tree"] = []
    at: Address | None = None


class Struct(msgspec.Struct):
    a: int
    b: list[str] = []


UserId = NewType("UserId", int)
Text = TypeVar("Text", bound=str)

HINTS: list[Any] = [
    str,
    int,
    float,
    bool,
    None,
    Any,
    list,
    list[int],
    dict,
    dict[str, int],
    Mapping[str, Any],
    Sequence[str],
    Iterable[bool],
    set[int],
    tuple[int, str],
    tuple[int, ...],
    Optional[str],  # noqa: UP045 -- as many still write it
    Union[int, str],  # noqa: UP007
    int | None,
    Literal["a", "b"],
    Literal[1, "a", None],
    Colour,
    Level,
    Point,
    Node,
    Film,
    Address,
    Tree,
    list[Point | None],
    dict[str, list[Film]],
    UserId,
    Annotated[int, pydantic.Field(ge=1, le=3)],
    Annotated[str, pydantic.Field(min_length=2, pattern="^o")],
    Annotated[list[int], pydantic.Field(min_length=1, max_length=2)],
    datetime.date,
    uuid.UUID,
    pathlib.Path,
]
NEAR = [
    {"x": 1},
    {"x": 1, "y": 2.5, "tags": ["a"]},
    {"x": "1"},
    {"value": 1, "next": {"value": 2, "next": None}},
    {"value": 1, "next": {"value": "2"}},
    {"title": "M", "year": 1931},
    {"title": 5},
    {"at": "noon"},
    {"street": "a", "zip": "10115"},
    {"street": "a", "zip": "x"},
    {"leaves": [{"leaves": [], "at": None}]},
    {"leaves": [{"leaves": 5}]},
    {"a": 1, "b": ["x"]},
    [1, "a"],
    [1, 1],
    "red",
    "a",
]


def tool_of(function: Any, name: str = "") -> Tool:
    (tool,) = admitted([tool_of_function(function, "here", name)], "here")
    return tool


def with_parameter(hint: Any) -> Any:
    def function(x): ...  # type: ignore[no-untyped-def]

    function.__annotations__ = {"x": hint}
    return function


def is_valid(schema: Any, value: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


def loosened(schema: Any) -> Any:
    """A schema that lets members pass which it doesn't know, as Pydantic does."""
    if isinstance(schema, list):
        return [loosened(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: loosened(each)
        for key, each in schema.items()
        if key != "additionalProperties" or each is not False
    }


@many_examples(600, deadline=None)
@given(st.sampled_from(HINTS), st.one_of(values, st.sampled_from(NEAR)))
def test_types_mean_what_they_mean_to_pydantic(hint: Any, value: Any) -> None:
    ours = loosened(tool_of(with_parameter(hint)).parameters)
    assert is_valid(ours, {"x": value}) == is_valid(pydantic.TypeAdapter(hint).json_schema(), value)


@pytest.mark.parametrize("hint", [*HINTS, Stop, Struct, Text, Annotated[str, msgspec.Meta(pattern="^a")]])
def test_schemas_are_schemas(hint: Any) -> None:
    schema = tool_of(with_parameter(hint)).parameters
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema


@pytest.mark.parametrize(
    ("hint", "good", "bad"),
    [
        (Stop, [{}, {"at": "noon"}], [{"at": 1}, {"by": "x"}, 5]),
        (Struct, [{"a": 1}, {"a": 1, "b": ["x"]}], [{}, {"a": "x"}]),
        (Text, ["a"], [1]),
        (Annotated[str, msgspec.Meta(pattern="^a")], ["a"], ["b", 1]),
        (Point, [{"x": 1}], [{"x": 1, "z": 2}]),
        (Annotated[str, "the city"], ["a"], [1]),
        (Annotated[dict[str, int], pydantic.Field(min_length=1)], [{"a": 1}], [{}]),
        ("Point", [{"x": 1}], [{}]),
        ("list[Film] | None", [None, [{"title": "M"}]], [[{}]]),
        (list["Point"], [[{"x": 1}]], [[{}]]),  # type: ignore[name-defined]
    ],
)
def test_other_types(hint: Any, good: list[Any], bad: list[Any]) -> None:
    schema = tool_of(with_parameter(hint)).parameters
    assert [is_valid(schema, {"x": value}) for value in good] == [True] * len(good)
    assert [is_valid(schema, {"x": value}) for value in bad] == [False] * len(bad)


def test_two_classes_of_the_same_name_are_kept_apart() -> None:
    other = dataclasses.make_dataclass("Point", [("z", str)])
    model = pydantic.create_model("Outer", point=(pydantic.create_model("Point", q=(bool, ...)), ...))

    def function(a, b, c): ...  # type: ignore[no-untyped-def]

    function.__annotations__ = {"a": Point, "b": other, "c": model}
    schema = tool_of(function).parameters
    assert is_valid(schema, {"a": {"x": 1}, "b": {"z": "s"}, "c": {"point": {"q": True}}})
    for wrong in ({"a": {"z": "s"}}, {"b": {"x": 1}}, {"c": {"point": {"x": 1}}}):
        right = {"a": {"x": 1}, "b": {"z": "s"}, "c": {"point": {"q": True}}}
        assert not is_valid(schema, right | wrong)


def everything(
    first: str,
    /,
    second: int = 2,
    *rest: int,
    colour: Colour = Colour.BLUE,
    given: Annotated[int, pydantic.Field(description="From a field.")] = 1,
    field: int = pydantic.Field(5, ge=1, description="A field itself."),
    needed: str = pydantic.Field(description="Has no default."),
    odd: Any = object(),  # noqa: B008
    nothing: str | None = None,
) -> str:
    """Do all sorts of things.

    And then some.

    Args:
        first (str): The first, which
            goes on.
        second: The second.
        given: Not from here.

    Returns:
        Nothing: at all.
    """
    raise AssertionError("a tool was called")


def test_a_whole_signature() -> None:
    tool = tool_of(everything)
    assert (tool.name, tool.description) == ("everything", "Do all sorts of things.\n\nAnd then some.")
    properties = tool.parameters["properties"]
    assert [*properties] == ["first", "second", "colour", "given", "field", "needed", "odd", "nothing"]
    assert tool.parameters["required"] == ["first", "needed"]
    assert tool.parameters["additionalProperties"] is False
    assert properties["first"] == {"type": "string", "description": "The first, which goes on."}
    assert properties["second"] == {"type": "integer", "description": "The second.", "default": 2}
    assert properties["colour"] == {"type": "string", "enum": ["red", "blue"], "default": "blue"}
    assert properties["given"] == {"type": "integer", "description": "From a field.", "default": 1}
    assert properties["field"] == {
        "type": "integer",
        "minimum": 1,
        "description": "A field itself.",
        "default": 5,
    }
    assert properties["needed"] == {"type": "string", "description": "Has no default."}
    assert properties["odd"] == {}
    assert properties["nothing"]["default"] is None


class Client:
    def search(self, query: str) -> str:
        """Search."""
        raise AssertionError("a tool was called")

    @classmethod
    def make(cls, size: int) -> str:
        raise AssertionError("a tool was called")


@functools.lru_cache
def cached(key: str) -> str:
    """Kept."""
    raise AssertionError("a tool was called")


async def later(when: datetime.datetime) -> str:
    """Wait."""
    raise AssertionError("a tool was called")


@pytest.mark.parametrize(
    ("function", "name", "required", "optional"),
    [
        (Client().search, "search", ["query"], []),
        (Client.search, "search", ["query"], []),
        (Client.make, "make", ["size"], []),
        (cached, "cached", ["key"], []),
        (later, "later", ["when"], []),
        (
            functools.partial(everything, "x", needed="y"),
            "everything",
            [],
            ["second", "colour", "given", "field", "needed", "odd", "nothing"],
        ),
        (lambda **anything: None, "<lambda>", [], []),
    ],
)
def test_kinds_of_functions(function: Any, name: str, required: list[str], optional: list[str]) -> None:
    assert is_function(function)
    found = tool_of_function(function, "here")
    assert found.name == name
    assert found.parameters["required"] == required
    assert [*found.parameters["properties"]] == required + optional
    assert tool_of_function(function, "here", "other").name == "other"


def test_what_takes_anything_says_so() -> None:
    def function(**anything: int) -> None: ...

    assert tool_of(function).parameters["additionalProperties"] is True


@pytest.mark.parametrize("value", [5, "text", None, Client, Client(), [cached], json])
def test_what_is_no_function(value: Any) -> None:
    assert not is_function(value)


class Opaque: ...


def takes_opaque(a: str, thing: Opaque) -> None: ...


def takes_unknown(thing: "NoSuchThing") -> None: ...  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (
            takes_opaque,
            "the tool 'takes_opaque': 'thing' is of the type .*Opaque, which can't be written as JSON",
        ),
        (with_parameter(list[Opaque]), "which can't be written as JSON"),
        (with_parameter(type[int]), "which can't be written as JSON"),
        (with_parameter(complex), "which can't be written as JSON"),
        (takes_unknown, "name 'NoSuchThing' is not defined"),
        (max, "the function 'max' has no readable signature"),
    ],
)
def test_what_can_t_be_said(function: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        tool_of(function)
    assert caught.value.where == "here"


def test_a_hint_that_matters_to_nobody_else_may_be_unknown() -> None:
    def function(a: str) -> "NoSuchThing": ...  # type: ignore[name-defined]  # noqa: F821

    assert tool_of(function).parameters["required"] == ["a"]
