"""Tools of real MCP servers, over every transport, and of those that have none to tell of."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from misstep.adapters.mcp.entries import McpServer, server_of, servers_in
from misstep.adapters.mcp.tools import tools_of_servers
from misstep.adapters.toolset.spec import read_tools, tools_from
from misstep.errors import UsageError
from tests.conformance.subject_subprocess import find_python
from tests.processes import children

SERVERS = Path(__file__).with_name("servers")
SHOP = f"{sys.executable} {SERVERS / 'shop.py'}"
OLD_PYTHON = find_python("TEST_MCP1_PYTHON", ".venv-mcp1")


@contextmanager
def serving(transport: str, server: str = "shop.py") -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, str(SERVERS / server), transport],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


def is_the_shop(spec: str) -> bool:
    order, cancel = tools_from(spec)
    assert (order.name, order.description) == ("order", "Order an item.")
    assert (cancel.name, cancel.description) == ("cancel", "Cancel an order.")
    assert order.parameters["required"] == ["item", "to"]
    assert order.parameters["properties"]["to"] == {"$ref": "#/$defs/Address"}
    assert order.parameters["$defs"]["Address"]["properties"]["zip"]["pattern"] == r"^\d{5}$"
    assert order.parameters["properties"]["amount"]["minimum"] == 1
    assert cancel.parameters["properties"]["reason"]["enum"] == ["late", "broken"]
    return True


def config(folder: Path, servers: Any, key: str = "mcpServers") -> str:
    path = folder / "mcp.json"
    path.write_text(json.dumps({key: servers}))
    return str(path)


def test_a_command() -> None:
    before = children()
    assert is_the_shop(f"mcp:{SHOP}")
    assert children() == before


def test_an_address() -> None:
    with serving("http") as url:
        assert is_the_shop(f"mcp:{url}")


@pytest.mark.full
def test_a_file_of_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_FOLDER", str(SERVERS))
    with serving("http") as url:
        path = config(tmp_path, {"web": {"type": "http", "url": url, "headers": {"X-Any": "1"}}})
        assert is_the_shop(path)
    entry = {"command": sys.executable, "args": ["${SHOP_FOLDER}/shop.py"], "cwd": str(tmp_path)}
    assert is_the_shop(config(tmp_path, {"shop": entry}))
    assert is_the_shop(
        config(tmp_path, {"shop": entry, "off": {"command": "no", "disabled": True}}, "servers")
    )


def test_a_server_of_the_older_kind_of_http(tmp_path: Path) -> None:
    with serving("sse") as url:
        assert is_the_shop(config(tmp_path, {"web": {"type": "sse", "url": url}}))


@pytest.mark.full
@pytest.mark.skipif(not OLD_PYTHON, reason="no environment with the SDK's first generation")
def test_a_server_of_the_first_generation() -> None:
    (greet,) = tools_from(f"mcp:{OLD_PYTHON} {SERVERS / 'old.py'}")
    assert (greet.name, greet.description) == ("greet", "Say hello.")
    assert greet.parameters["required"] == ["name"]


def test_all_pages_are_read() -> None:
    names = [tool.name for tool in tools_from(f"mcp:{sys.executable} {SERVERS / 'many.py'}")]
    assert names == [f"tool_{page}_{number}" for page in range(5) for number in range(3)]


def test_while_an_event_loop_runs() -> None:
    async def main() -> bool:
        return is_the_shop(f"mcp:{SHOP}")

    assert asyncio.run(main())


def test_the_server_in_the_file_itself() -> None:
    assert is_the_shop(f"{SERVERS / 'shop.py'}:server")


@pytest.mark.full
def test_two_servers_with_a_tool_of_the_same_name(tmp_path: Path) -> None:
    entry = {"command": sys.executable, "args": [str(SERVERS / "shop.py")]}
    with pytest.raises(UsageError, match="two tools are called 'order'") as caught:
        tools_from(config(tmp_path, {"one": entry, "two": entry}))
    assert caught.value.hints == ("one is server 'one', the other server 'two'",)


def test_a_server_that_breaks_down_tells_why_but_no_keys(tmp_path: Path) -> None:
    entry = {"command": sys.executable, "args": [str(SERVERS / "shop.py")], "env": {"SHOP_KEY": "wrong"}}
    with pytest.raises(UsageError, match="can't list the tools of MCP server 'shop'") as caught:
        tools_from(config(tmp_path, {"shop": entry}))
    assert "the key is wrong" in caught.value.hints
    script = "import os, sys; sys.exit('bad key ' + os.environ['SOME_API_KEY'])"
    words = (sys.executable, "-c", script)
    with pytest.raises(UsageError) as caught:
        tools_of_servers([McpServer("'it'", words, {"SOME_API_KEY": "sk-something-secret"})])
    assert caught.value.hints == ("bad key [secret]",)


LISTS_BADLY = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request.get("method") == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "bad", "version": "1"}}
    elif request.get("method") == "tools/list":
        result = {"tools": [{"name": "one", "inputSchema": {}}, {"name": "two", "inputSchema": {}}]}
    elif "id" in request:
        error = {"code": -32601, "message": "unknown"}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}), flush=True)
        continue
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


def test_a_list_of_tools_that_breaks_the_protocol_is_told_on_one_line() -> None:
    with pytest.raises(UsageError) as caught:
        tools_of_servers([McpServer("'bad'", (sys.executable, "-c", LISTS_BADLY), {})])
    reason = "its reply breaks the protocol: tools.0.inputSchema.type: Field required (1 more)"
    assert str(caught.value) == f"can't list the tools of MCP server 'bad': {reason}"


def test_a_server_that_says_nothing_is_not_waited_for_for_ever() -> None:
    before = children()
    with pytest.raises(UsageError, match="no answer in time"):
        tools_of_servers([server_of(f"{sys.executable} {SERVERS / 'silent.py'}")], patience=0.5)
    assert children() == before


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("mcp:", "neither a command nor an address"),
        ("mcp:  ", "neither a command nor an address"),
        ("mcp:a 'b", "can't parse the server's command"),
        ("mcp:/no/such/program --stdio", "can.t start MCP server .*: command not found"),
        ("mcp:http://127.0.0.1:9/mcp", "can't list the tools of MCP server http://127.0.0.1:9/mcp"),
    ],
)
def test_servers_that_can_t_be_reached(target: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        tools_from(target)


@pytest.mark.parametrize(
    ("servers", "words"),
    [
        ([], "expected an object with each server under its name"),
        ({"a": 5}, "Expected `object`"),
        ({"a": {}}, "needs a command or a url"),
        ({"a": {"command": "x", "url": "y"}}, "needs a command or a url"),
        ({"a": {"command": "x", "args": [1]}}, "Expected `str`"),
        ({"a": {"command": "${NO_SUCH_VARIABLE}"}}, "the environment variable NO_SUCH_VARIABLE is not set"),
    ],
)
def test_entries_that_make_no_sense(servers: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        servers_in(servers, "mcp.json")


def test_variables_are_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHERE", "here")
    entry = {
        "command": "run",
        "args": ["${WHERE}/x", "${env:WHERE}", "${NOWHERE:-there}", "$WHERE"],
        "env": {"A": "${WHERE}"},
        "timeout": 5,
    }
    (server,) = servers_in({"a": entry}, "mcp.json")
    assert server.command == ("run", "here/x", "here", "there", "$WHERE")
    assert server.environment == {"A": "here"}
    assert "WHERE" in os.environ


def test_a_command_is_split_as_a_shell_would() -> None:
    assert server_of(" my-server --name 'a b' ").command == ("my-server", "--name", "a b")
    assert server_of("https://example.com/mcp").url == "https://example.com/mcp"


BY_HAND = Path(__file__).parents[1] / "mcp" / "revision_server.py"


def test_a_server_without_tools_is_no_error(tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    text = BY_HAND.read_text().replace('    "tools/list": lambda _: {"tools": [ASK]},\n', "")
    program.write_text(text.replace('{"tools": {}, "resources"', '{"resources"'))
    spec, notes = f"mcp:{sys.executable} {program} 2025-11-25", list[str]()
    assert read_tools(spec, [], notes) == []
    assert [note.rpartition(" has ")[2] for note in notes] == ["no tools"]
    assert read_tools(spec, [], [], beside=True)[0].name == "resources/read"
    with pytest.raises(UsageError, match="contains no tools"):
        tools_from(spec)


def test_a_tool_is_usable_without_an_odd_optional_parameter(tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text(BY_HAND.read_text().replace('{"type": "array"}', '{"type": 5}'))
    spec, skipped, notes = f"mcp:{sys.executable} {program} 2025-11-25", list[str](), list[str]()
    (tool,) = read_tools(spec, skipped, notes)
    assert list(tool.tool.parameters["properties"]) == ["n"]
    assert (skipped, notes) == ([], ["'ask' is called without 'kinds', whose schema is not valid"])
    with pytest.raises(UsageError, match=r"not valid, in 'properties\.kinds'"):
        tools_from(spec)
    program.write_text(
        program.read_text().replace('"inputSchema": {', '"inputSchema": {"required": ["kinds"], ')
    )
    with pytest.raises(UsageError, match=r"not valid, in 'properties\.kinds'"):
        read_tools(spec, [], [])
