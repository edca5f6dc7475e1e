"""What functions promise to return: breaches are seen, and nothing that keeps the promise is one."""

import collections
import dataclasses
import datetime
import decimal
import enum
import functools
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, TypedDict, TypeVar

import msgspec
import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, computed_field, field_serializer

from misstep.adapters.toolset.bound import PlainCall, function_tool
from misstep.adapters.toolset.calling import Loop
from misstep.adapters.toolset.found import usable
from misstep.adapters.toolset.functions import tool_of_function
from misstep.adapters.toolset.outputs import output_of
from misstep.core.results.trial import Judged
from misstep.core.tool import Invocation, Reaction
from misstep.fuzzing.judging.ruling import judge_calls_of

T = TypeVar("T")
UserId = NewType("UserId", int)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Rights(enum.IntFlag):
    READ = 1
    WRITE = 2


class Place(TypedDict, total=False):
    name: str
    height: float


class Named(TypedDict):
    name: str


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0
    _seen: int = 0
    inner: "Point | None" = None


@dataclasses.dataclass
class Marked(Point):
    label: str = ""


class Pair(NamedTuple):
    left: int
    right: str


class Guest(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str = Field(alias="fullName")
    born: datetime.date = datetime.date(2000, 1, 2)
    worth: decimal.Decimal = decimal.Decimal("1E+5")
    tags: list[str] = Field(default_factory=list)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def initial(self) -> str:
        return self.name[:1]

    @field_serializer("born")
    def year(self, born: datetime.date) -> int:
        return born.year


class Room(BaseModel):
    number: int
    guests: list[Guest] = []


class Numbers(RootModel[list[int]]):
    pass


class Struct(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    first_name: str


class Page(list[T], Generic[T]):
    pass


class Own:
    pass


def judged(hint: Any, result: Any) -> Judged:
    """The ruling on a function with this hint that returns this."""

    def tool() -> Any:
        return result

    tool.__annotations__ = {"return": hint}
    return ruling(tool)


def ruling(tool: Callable[..., Any], arguments: str = "{}") -> Judged:
    ((known, _),) = usable([tool_of_function(tool, "here", "tool")], "here")
    loop = Loop()
    returned = function_tool(known, PlainCall(tool, loop)).call(msgspec.json.decode(arguments))
    loop.close()
    reaction = Reaction("returned", returned.text, returned.size, structured=returned.structured)
    return judge_calls_of([known])(Invocation("tool", arguments), reaction)


BREACHES: list[tuple[Any, Any]] = [
    (int, "3"),
    (int, 2.5),
    (int, None),
    (float, "much"),
    (bool, 1),
    (str, None),
    (str, {"a": 1}),
    (str, ["a"]),
    (str, Point(1)),
    (None, "something"),
    ("int", "quoted"),
    (list[int], [1, "2"]),
    (list, "text"),
    (set[str], {1}),
    (tuple[int, str], (1, "a", "b")),
    (tuple[int, ...], ("a",)),
    (Sequence[int], None),
    (Iterable[int], ["a"]),
    (dict[str, int], {"a": "b"}),
    (dict, []),
    (Mapping[str, list[int]], {"a": [None]}),
    (int | None, "no"),
    (list[str] | None, {}),
    (Literal["a", "b"], "c"),
    (Annotated[int, Field(ge=0)], -1),
    (Colour, "green"),
    (Place, {"name": 5}),
    (Named, {}),
    (Point, {"y": 1}),
    (Point, Point("text")),  # type: ignore[arg-type]
    (Point, Point(1, inner=Point("text"))),  # type: ignore[arg-type]
    (list[Point], [None]),
    (Guest, "Ada"),
    (Room, {}),
    (Numbers, {"root": 1}),
    (Struct, {"firstName": 1}),
    (UserId, "7"),
    (datetime.date, None),
    (uuid.UUID, 5),
    (Page[int], {}),
]
INNOCENTS: list[tuple[Any, Any]] = [
    (int, 3),
    (int, True),
    (int, 10**400),
    (float, 3),
    (float, float("nan")),
    (str, ""),
    (str, Own()),
    (str, "\ud800"),
    (None, None),
    (Any, "x"),
    (object, 5),
    (Own, "x"),
    (T, 5),
    (complex, "x"),
    (type[int], "x"),
    (Callable[[], int], "x"),
    (list[int], (1, 2)),
    (list[int], {1, 2}),
    (list[int], [True, 2]),
    (list[int], [1] * 150_000),
    (list[Any], ["a", None]),
    (list[Own], ["a", None]),
    (tuple[int, str], [1, "a"]),
    (tuple[()], ()),
    (Sequence[str], "text"),
    (Iterable[str], {"a": 1}),
    (Iterator[int], iter([1])),
    (dict[str, float], {"a": 1, "b": 2.5}),
    (dict[int, str], {1: "a"}),
    (dict[str, int], collections.Counter("aab")),
    (Mapping[str, int], collections.ChainMap({"a": 1})),
    (int | None, None),
    (int | Own, "x"),
    (Literal["a", 1, None], 1),
    (Colour, Colour.RED),
    (Rights, Rights.READ | Rights.WRITE),
    (Place, {"name": "a", "more": 1}),
    (Point, Point(1)),
    (Point, Marked(1, 2)),
    (Pair, Pair(1, "a")),
    (Guest, Guest(fullName="Ada")),
    (list[Guest], [Guest(fullName="Ada")]),
    (Room, Room(number=1, guests=[Guest(fullName="Ada")])),
    (Room, {"number": 3}),
    (Numbers, Numbers([1])),
    (Struct, Struct("Ada")),
    (UserId, 7),
    (decimal.Decimal, decimal.Decimal("1.5")),
    (datetime.datetime, datetime.datetime(2020, 1, 2)),
    (bytes, b"\xff"),
    (Page[int], Page(["a"])),
    (Awaitable[int], 5),
    ("Nowhere", 5),
]


@pytest.mark.parametrize(("hint", "result"), BREACHES)
def test_what_was_not_promised_is_a_finding(hint: Any, result: Any) -> None:
    found = judged(hint, result)
    assert (found.ruling, found.error) == ("schema", "type hint")


@pytest.mark.parametrize(("hint", "result"), INNOCENTS)
def test_what_a_hint_allows_or_nobody_can_tell_is_fine(hint: Any, result: Any) -> None:
    assert judged(hint, result).ruling == "fine"


def test_what_is_awaited_or_comes_bit_by_bit_is_meant() -> None:
    async def later(text: str) -> int:
        return text  # type: ignore[return-value]

    async def parts(text: str) -> AsyncIterator[int]:
        yield text  # type: ignore[misc]

    def pieces(number: int) -> Iterator[int]:
        yield number

    assert ruling(later, '{"text": "a"}').ruling == "schema"
    assert ruling(parts, '{"text": "a"}').ruling == "schema"
    assert ruling(pieces, '{"number": 3}').ruling == "fine"


def test_what_becomes_of_arguments_that_nobody_promised_to_take_is_chance() -> None:
    def double(number: int) -> int:
        return number * 2

    assert ruling(double, '{"number": "a"}').ruling == "fine"


def test_a_decorator_has_the_last_word() -> None:
    def told(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*arguments: Any, **named: Any) -> str:
            return f"it is {function(*arguments, **named)}"

        return wrapper

    @told
    def count(text: str) -> int:
        return len(text)

    @functools.lru_cache
    def cached(text: str) -> int:
        return text  # type: ignore[return-value]

    assert ruling(count, '{"text": "a"}').ruling == "fine"
    assert ruling(cached, '{"text": "a"}').ruling == "schema"
    assert ruling(functools.partial(cached, "a")).ruling == "schema"


def test_only_what_says_something_is_a_schema() -> None:
    def schema(hint: Any) -> Any:
        def tool() -> None: ...

        tool.__annotations__ = {"return": hint}
        return output_of(tool)

    assert schema(Any) is schema(int | Own) is schema(Own) is schema("Nowhere") is None
    assert schema(int | None) == {"anyOf": [{"type": ["integer", "boolean"]}, {"type": "null"}]}
    assert schema(list[Place])["$defs"]["Place"]["required"] == []
