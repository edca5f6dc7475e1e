"""Plain functions that are bound: what reaches them, what comes back, and what is let through."""

import os
from pathlib import Path
from typing import Any

import pytest

from misstep.adapters.toolset.calling import ArgumentsRefused, BoundTool, Toolset
from misstep.errors import UsageError
from tests.adapters.toolset.toolset_cases import Binding, Write, binding, write

__all__ = ["binding", "write"]

CODE = """
    import asyncio, dataclasses, datetime, enum, functools, os
    from typing import Any, Optional
    from pydantic import BaseModel

    @dataclasses.dataclass
    class Place:
        name: str
        size: int = 1

    class Colour(enum.Enum):
        RED = "red"

    class Guest(BaseModel):
        name: str

    def add(a: int, b: int = 2) -> int:
        '''Add two numbers.

        >>> add(1, b=3)
        4
        '''
        return a + b

    async def later(text: str) -> str:
        "Say it later."
        await asyncio.sleep(0)
        return text

    def rich(when: datetime.date, place: Place, colour: Colour, guest: Guest, note: Optional[str] = None) -> str:
        "Takes what JSON does not have."
        return f"{when.year} {place.name} {colour.name} {guest.name} {note}"

    def where(name: str) -> Place:
        "Gives something with parts."
        return Place(name, len(name))

    def wrapper(function):
        @functools.wraps(function)
        def inner(*arguments, **named):
            return function(*arguments, **named)
        return inner

    @wrapper
    def decorated(a: int) -> int:
        return a

    def inside(a: str) -> str:
        "A TypeError of its own."
        return a + 1

    def leave(how: str) -> str:
        raise {"exit": SystemExit, "stop": KeyboardInterrupt, "value": ValueError}[how]("so")

    class Counter:
        def __init__(self):
            self.count = 0
        def up(self, by: int = 1) -> int:
            "Count."
            self.count += by
            return self.count
        def __call__(self, by: int) -> int:
            "Count by calling."
            return self.up(by)

    class Fine:
        name: str

    def numbers(most: int):
        "Count up."
        for number in range(most):
            yield number

    async def later_numbers(most: int):
        "Count up later."
        for number in range(most):
            yield number

    async def same_loop() -> str:
        return str(id(asyncio.get_running_loop()))

    counter = Counter()
    up = counter.up
    partial = functools.partial(add, b=10)
    tools = [add, later, rich, where, decorated, inside, leave, numbers, later_numbers, same_loop]
    definition = {"name": "only", "parameters": {"type": "object"}}
"""


@pytest.fixture
def toolset(write: Write, binding: Binding) -> Toolset:
    return binding(f"{write(CODE)}:tools")


def tool(toolset: Toolset, name: str) -> BoundTool:
    return next(each for each in toolset.bounds if each.described.name == name)


def called(toolset: Toolset, name: str, **arguments: Any) -> str:
    return tool(toolset, name).call(arguments).text


def test_functions_are_called(toolset: Toolset) -> None:
    assert called(toolset, "add", a=1) == "3"
    assert called(toolset, "later", text="so") == "so"
    assert called(toolset, "numbers", most=3) == "[0, 1, 2]"
    assert called(toolset, "later_numbers", most=3) == "[0, 1, 2]"
    assert called(toolset, "decorated", a=5) == "5"
    assert called(toolset, "same_loop") == called(toolset, "same_loop")


def test_what_is_known_about_them(toolset: Toolset, tmp_path: Path) -> None:
    add, later, where = (tool(toolset, name).described for name in ("add", "later", "where"))
    assert (add.kind, add.is_async, later.is_async) == ("function", False, True)
    assert add.examples == ('{"a": 1, "b": 3}',)
    assert add.source is not None
    assert add.source.file == str(tmp_path / "mine.py")
    assert add.source.text.startswith("def add(")
    assert Path(add.source.file).read_text().splitlines()[add.source.line - 1].startswith("def add(")
    assert add.output == {"type": ["integer", "boolean"]}
    assert where.output is not None
    assert where.output["$defs"]["Place"]["required"] == ["name"]


def test_values_reach_a_function_as_they_are(toolset: Toolset) -> None:
    assert called(toolset, "add", a="x", b="y") == "xy"
    assert called(toolset, "add", a=[1], b=[2]) == "[1, 2]"


def test_what_json_does_not_have_is_made(toolset: Toolset) -> None:
    good = {"when": "2020-01-02", "place": {"name": "Oslo"}, "colour": "red", "guest": {"name": "Ada"}}
    assert called(toolset, "rich", **good) == "2020 Oslo RED Ada None"
    for wrong in ({"when": "soon"}, {"place": {}}, {"colour": "blue"}, {"guest": 5}):
        with pytest.raises(ArgumentsRefused) as caught:
            called(toolset, "rich", **{**good, **wrong})
        assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize(("name", "arguments"), [("add", {}), ("add", {"a": 1, "c": 2}), ("decorated", {})])
def test_arguments_that_a_function_can_t_take(name: str, arguments: Any, toolset: Toolset) -> None:
    with pytest.raises(ArgumentsRefused) as caught:
        called(toolset, name, **arguments)
    assert isinstance(caught.value.__cause__, TypeError)


def test_exceptions_are_let_through(toolset: Toolset) -> None:
    with pytest.raises(TypeError, match="can only concatenate") as caught:
        called(toolset, "inside", a="x")
    assert caught.value.__cause__ is None
    for how, kind in (("exit", SystemExit), ("stop", KeyboardInterrupt), ("value", ValueError)):
        with pytest.raises(kind, match="so"):
            called(toolset, "leave", how=how)


def test_results_with_parts_are_structured(toolset: Toolset) -> None:
    returned = tool(toolset, "where").call({"name": "Oslo"})
    assert returned.structured == '{"name": "Oslo", "size": 4}'
    assert tool(toolset, "add").call({"a": 1}).structured == "3"
    assert tool(toolset, "later").call({"text": "so"}).structured is None  # a text is what it has to be


def test_an_entry_can_be_replaced_and_put_back(toolset: Toolset) -> None:
    add = tool(toolset, "add")
    assert add.entry is not None
    function = add.entry.function
    add.entry.function = lambda **arguments: sorted(arguments)
    assert add.call({"a": 1}).text == '["a"]'
    add.entry.function = function
    assert add.call({"a": 1}).text == "3"


def test_objects_and_what_belongs_to_them(write: Write, binding: Binding) -> None:
    path = write(CODE)
    assert [binding(f"{path}:up").bounds[0].call({"by": 2}).text for _ in range(2)] == ["2", "4"]
    assert binding(f"{path}:counter").bounds[0].call({"by": 1}).text == "5"
    assert binding(f"{path}:counter").bounds[0].described.name == "Counter"
    assert binding(f"{path}:partial").bounds[0].call({"a": 1}).text == "11"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Counter.up", "can't be called without 'self'"),
        ("definition", "'only' is only a tool definition"),
        ("nothing", "there is no 'nothing' here"),
    ],
)
def test_what_can_t_be_called(name: str, words: str, write: Write, binding: Binding) -> None:
    with pytest.raises(UsageError, match=words):
        binding(f"{write(CODE)}:{name}")


def test_a_copy_of_the_process_has_a_loop_of_its_own(toolset: Toolset) -> None:
    assert toolset.forkable
    assert called(toolset, "later", text="before") == "before"
    child = os.fork()
    if child == 0:
        os._exit(0 if called(toolset, "later", text="copy") == "copy" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert called(toolset, "later", text="after") == "after"


def test_parameters_without_names_are_given_by_their_places(write: Write, binding: Binding) -> None:
    path = write("""
    def posonly(a: int, b: int = 2, c: int = 3, /, *, d: int = 4) -> list:
        return [a, b, c, d]
    """)
    (posonly,) = binding(f"{path}:posonly").bounds
    assert posonly.call({"a": 1}).text == "[1, 2, 3, 4]"
    assert posonly.call({"c": 7, "a": 1, "d": 5}).text == "[1, 2, 7, 5]"
    for wrong in ({"b": 1}, {}, {"a": 1, "e": 1}):
        with pytest.raises(ArgumentsRefused):
            posonly.call(wrong)


def test_a_tool_that_has_no_schema_is_left_out(write: Write, binding: Binding) -> None:
    path = write("""
    class Odd: ...
    def good(a: int) -> int: return a
    def bad(thing: Odd) -> int: return 1
    """)
    with open(path, "a") as file:
        file.write("\ntools = [bad, good]\n")
    toolset = binding(f"{path}:tools")
    assert [bound.described.name for bound in toolset.bounds] == ["good"]
    assert "the tool 'bad': 'thing' is of the type" in toolset.skipped[0]
    with pytest.raises(UsageError, match="the tool 'bad'"):
        binding(f"{path}:bad")
