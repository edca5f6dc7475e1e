"""Tools written down as data, in Python or in files of JSON."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep.adapters.toolset.spec import tools_from
from misstep.core.agent import Tool
from misstep.errors import UsageError
from tests.adapters.toolset.toolset_cases import Write, write

__all__ = ["write"]

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHAT = {
    "type": "function",
    "function": {"name": "w", "description": "Tell.", "parameters": SCHEMA, "strict": True},
}
RESPONSES = {"type": "function", "name": "w", "description": "Tell.", "parameters": SCHEMA}
LEGACY = {"name": "w", "description": "Tell.", "parameters": SCHEMA}
ANTHROPIC = {"name": "w", "description": "Tell.", "input_schema": SCHEMA}
ANTHROPIC_CUSTOM = {**ANTHROPIC, "type": "custom", "cache_control": {"type": "ephemeral"}}
MCP = {"name": "w", "title": "Weather", "description": "Tell.", "inputSchema": SCHEMA, "annotations": {}}
SHAPES = [CHAT, RESPONSES, LEGACY, ANTHROPIC, ANTHROPIC_CUSTOM, MCP]
EMPTY = {"type": "object", "properties": {}}


def saved(folder: Path, value: Any) -> str:
    path = folder / "tools.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape: Any, tmp_path: Path, write: Write) -> None:
    expected = [Tool("w", "Tell.", SCHEMA)]
    for wrapped in (
        [shape],
        {"tools": [shape]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [shape]}},
        shape,
    ):
        assert tools_from(saved(tmp_path, wrapped)) == expected
    path = write(f"\n    tools = [{shape!r}]\n    single = {shape!r}\n")
    assert tools_from(f"{path}:tools") == tools_from(f"{path}:single") == expected


@pytest.mark.parametrize("shape", [{"name": "ping"}, {"type": "function", "function": {"name": "ping"}}])
def test_a_tool_without_parameters_takes_nothing(shape: Any, tmp_path: Path) -> None:
    assert tools_from(saved(tmp_path, [shape])) == [Tool("ping", "", EMPTY)]


def test_several(tmp_path: Path) -> None:
    others = [{**LEGACY, "name": f"t{number}"} for number in range(3)]
    assert [tool.name for tool in tools_from(saved(tmp_path, [MCP, *others]))] == ["w", "t0", "t1", "t2"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("{", "is not JSON"),
        ("5", "contains no tools"),
        ({"tools": {}}, "contains no tools"),
        ([], "contains no tools"),
        ([LEGACY, 5], "is not a tool definition"),
        ([{"city": "Oslo"}], "is not a tool definition"),
        ([{"parameters": SCHEMA}], "has no name"),
        ([{"type": "function", "function": {"parameters": SCHEMA}}], "has no name"),
        ([{"type": "web_search"}], "a 'web_search' runs at its provider"),
        ([{"type": "web_search_20250305", "name": "web_search"}], "runs at its provider"),
        ([LEGACY, LEGACY], "two tools are called 'w'"),
        ([{**LEGACY, "name": "a.b"}], "tool name 'a.b' can't be offered to a model"),
        (
            [{**LEGACY, "parameters": {"type": "array"}}],
            "the schema of the tool 'w' is not that of an object",
        ),
        ([{**LEGACY, "parameters": "x"}], "the schema of the tool 'w' is of the type str"),
        ([{**LEGACY, "parameters": {**SCHEMA, "required": "city"}}], "has a value for 'required'"),
    ],
)
def test_what_is_wrong_is_said(value: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        tools_from(saved(tmp_path, value))
    assert words in caught.value.message
    assert "tools.json" in caught.value.where + str(caught.value)


def test_the_wrong_one_is_named(tmp_path: Path) -> None:
    path = saved(tmp_path, [LEGACY, {**LEGACY, "name": "b", "parameters": 5}])
    with pytest.raises(UsageError) as caught:
        tools_from(path)
    assert caught.value.where == f"{path}[1]"


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read: No such file"):
        tools_from(str(tmp_path / "nowhere.json"))
    (tmp_path / "latin.json").write_bytes(b'["\xe9"]')
    with pytest.raises(UsageError, match="is not JSON"):
        tools_from(str(tmp_path / "latin.json"))
