"""What the user means by `--tools`: whatever holds tools, what only makes them, and what is none."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from misstep.adapters.toolset.spec import each_server, servers_meant, tools_from
from misstep.core.agent import Tool
from misstep.errors import UsageError
from tests.adapters.toolset.toolset_cases import Write, write

__all__ = ["write"]

CODE = """
    import functools
    from typing import Any, Callable
    from pydantic import BaseModel
    from misstep.core.agent import Tool

    CALLS = []

    def look(at: str) -> str:
        "Look."
        CALLS.append("look")

    def now() -> str:
        "What time it is."
        CALLS.append("now")

    def untold():
        CALLS.append("untold")

    def list_orders() -> list[dict[str, Any]]:
        CALLS.append("list_orders")

    def search_tools():
        CALLS.append("search_tools")

    def get_tools() -> str:
        "A tool that only sounds as if it made some."
        CALLS.append("get_tools")

    class ask(BaseModel):
        "Ask somebody."
        whom: str

    class Toolkit:
        def get_tools(self):
            return [look, now]

    class Needy:
        def __init__(self, key): ...
        def get_tools(self): ...

    class Listing:
        async def list_tools(self):
            return {"a": look, "b": now}

    class Holder:
        tools = (look,)

    def make_tools():
        return [look, now]

    def tools() -> list:
        return [look]

    def prepare(extra=None) -> list[Callable[..., Any]]:
        return [look]

    async def build_tools():
        return [look]

    def anything_at_all():
        return [look, untold]

    one = Tool("one", "Ours.", {"type": "object", "properties": {"a": {"type": "string"}}})
    several = [look, (now, [one]), ask]
    named = {"see": look, "watch": functools.partial(look), "one": one}
    kit, needy, listing, holder = Toolkit(), Needy, Listing(), Holder()
    partial = functools.partial(look)
    nested = []
    nested.append(nested)
    empty = []
    number = 5
    wrong = [look, now, "not a tool"]
    wrong_dict = {"see": look, "b": 5}
    no_json = Tool("odd", "", {"type": "object", "properties": {"a": {"default": object()}}})
    no_object = {"name": "odd", "parameters": {"type": "string"}}
    no_properties = {"name": "odd", "parameters": {"type": "object", "properties": []}}
    no_mapping = {"name": "odd", "parameters": []}
    bad_name = {"my tool": look}
    long_name = {"x" * 65: look}
    twice = [look, {"inner": {"look": now}}]
    class Awkward:
        @property
        def name(self):
            raise RuntimeError("none of your business")
        params_json_schema = {}
    awkward = Awkward()
    def broken() -> list[Callable]:
        raise RuntimeError("no key given")
    recursive = {"name": "r", "parameters": {"$ref": "#/$defs/N", "$defs": {"N": {
        "type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}}}}}
"""


def names(spec: str) -> list[str]:
    return [tool.name for tool in tools_from(spec)]


def calls(path: str) -> Any:
    from misstep.adapters.loading.source import load_object

    return load_object(f"{path}:CALLS")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("look", ["look"]),
        ("now", ["now"]),
        ("untold", ["untold"]),
        ("list_orders", ["list_orders"]),
        ("search_tools", ["search_tools"]),
        ("get_tools", ["get_tools"]),
        ("partial", ["look"]),
        ("one", ["one"]),
        ("ask", ["ask"]),
        ("several", ["look", "now", "one", "ask"]),
        ("named", ["see", "watch", "one"]),
        ("kit", ["look", "now"]),
        ("Toolkit", ["look", "now"]),
        ("listing", ["a", "b"]),
        ("holder", ["look"]),
        ("make_tools", ["look", "now"]),
        ("tools", ["look"]),
        ("prepare", ["look"]),
        ("build_tools", ["look"]),
        ("anything_at_all", ["anything_at_all"]),
        ("anything_at_all()", ["look", "untold"]),
        ("kit.get_tools", ["look", "now"]),
    ],
)
def test_kinds(name: str, expected: list[str], write: Write) -> None:
    path = write(CODE)
    assert names(f"{path}:{name}") == expected
    assert calls(path) == []


def test_a_tool_is_told_whole(write: Write) -> None:
    path = write(CODE)
    assert tools_from(f"{path}:look") == [
        Tool(
            "look",
            "Look.",
            {
                "type": "object",
                "properties": {"at": {"type": "string"}},
                "required": ["at"],
                "additionalProperties": False,
            },
        )
    ]
    (recursive,) = tools_from(f"{path}:recursive")
    inner = {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}}
    assert recursive.parameters == {**inner, "$defs": {"N": inner}}


def test_schemas_are_copies(write: Write) -> None:
    spec = f"{write(CODE)}:one"
    tools_from(spec)[0].parameters["properties"].clear()
    assert tools_from(spec)[0].parameters["properties"]


def test_each_server_of_a_file_has_a_spec(tmp_path: Path) -> None:
    servers = {"one": {"command": "first"}, "two": {"command": "second", "disabled": True}, "three": {}}
    path = str(tmp_path / "mcp.json")
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    assert each_server(path) == [f"{path}:one", f"{path}:three"]  # whether or not they can be used
    assert [server.command for server in servers_meant(f"{path}:one") or ()] == [("first",)]
    with pytest.raises(UsageError, match="needs a command or a url"):
        servers_meant(f"{path}:three")
    with pytest.raises(UsageError, match="has no server 'on'") as caught:
        servers_meant(f"{path}:on")
    assert caught.value.hints == ("Did you mean 'one'?",)
    assert each_server(f"{path}:one") == [f"{path}:one"]
    assert each_server("mcp:first") == ["mcp:first"]


def test_modules(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(write(CODE)).parent
    (folder / "package_with_tools").mkdir()
    (folder / "package_with_tools" / "inner.py").write_text((folder / "mine.py").read_text())
    monkeypatch.chdir(folder)
    assert names("package_with_tools.inner:several") == ["look", "now", "one", "ask"]


def test_while_an_event_loop_runs(write: Write) -> None:
    spec = f"{write(CODE)}:build_tools"

    async def main() -> list[str]:
        return names(spec)

    assert asyncio.run(main()) == ["look"]


@pytest.mark.parametrize(
    ("name", "words", "where"),
    [
        ("number", "something of the type int is not a tool", ":number"),
        ("wrong", "something of the type str is not a tool", ":wrong[2]"),
        ("wrong_dict", "something of the type int is not a tool", ":wrong_dict['b']"),
        ("empty", "contains no tools", None),
        ("nested", "lists nested too deeply", None),
        ("needy", "Needy is a class", ":needy"),
        ("Holder", "Holder is a class, not a tool", ":Holder"),
        ("look()", "can't be called without arguments", None),
        ("number()", "can't be called without arguments", None),
        ("no_json", "the schema of the tool 'odd' is not JSON", ":no_json"),
        ("no_object", "the schema of the tool 'odd' is not that of an object", ":no_object"),
        ("no_properties", "the schema of the tool 'odd' has a value for 'properties'", ":no_properties"),
        ("no_mapping", "the schema of the tool 'odd' is of the type list", ":no_mapping"),
        ("bad_name", "tool name 'my tool' can't be offered to a model", ":bad_name['my tool']"),
        ("long_name", "can't be offered to a model", None),
        ("twice", "two tools are called 'look'", None),
        ("awkward", "raised RuntimeError: none of your business", None),
        ("broken", "raised RuntimeError: no key given", None),
        ("loook", "there is no 'loook' here", None),
        ("", "does not name a tool", None),
    ],
)
def test_what_is_wrong_is_said(name: str, words: str, where: str | None, write: Write) -> None:
    path = write(CODE)
    with pytest.raises(UsageError) as caught:
        tools_from(f"{path}:{name}")
    assert words in caught.value.message
    assert where is None or caught.value.where == f"{path}{where}"
    assert calls(path) == []


def test_two_of_the_same_name_are_found_in_two_places(write: Write) -> None:
    path = write(CODE)
    with pytest.raises(UsageError) as caught:
        tools_from(f"{path}:twice")
    assert caught.value.hints == (f"one is {path}:twice[0], the other {path}:twice[1]['inner']['look']",)


def test_a_file_that_does_not_load_says_where(write: Write) -> None:
    path = write("\n    import no_such_thing\n")
    with pytest.raises(UsageError, match="raised ModuleNotFoundError") as caught:
        tools_from(f"{path}:tools")
    assert caught.value.where == f"{path}:2"
    with pytest.raises(UsageError, match="no such file"):
        tools_from("nowhere.py:tools")
