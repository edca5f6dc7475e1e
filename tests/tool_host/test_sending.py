"""Calls that servers get together, cancelled or after a fresh start, and what they send to the network."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from misstep import Settings, UsageError, replay_calls
from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.tools import bind_servers
from misstep.core.tool import Invocation, Probe, Sending
from misstep.fuzzing.workbench import run_calls
from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions
from misstep.tool_host.sandbox.bubblewrap import find_bubblewrap

SERVER = """
import asyncio
from mcp.server.mcpserver import MCPServer

app = MCPServer("meetings")
came, both = [], asyncio.Event()


@app.tool()
async def meet(name: str) -> str:
    '''Wait until two are there.'''
    came.append(name)
    if len(came) == 2:
        both.set()
    await asyncio.wait_for(both.wait(), 30)
    return f"{name} met {[each for each in came if each != name]}"


@app.tool()
async def wait() -> str:
    '''Wait for long.'''
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        came.append("cancelled")
        raise
    return "waited"


@app.tool()
async def note(name: str) -> str:
    '''Note who came.'''
    came.append(name)
    return "noted"


@app.tool()
async def look() -> str:
    '''Who came.'''
    return repr(came)


app.run()
"""

TOOLS = """
import socket
import threading
import time


def connect(host: str, port: int) -> str:
    '''Connect to a port.'''
    with socket.socket() as connection:
        return str(connection.connect_ex((host, port)))


def find(name: str) -> str:
    '''Look a name up.'''
    try:
        return str(socket.getaddrinfo(name, 80))
    except OSError as error:
        return str(error)


def count(host: str) -> int:
    '''Works offline.'''
    return connect(host, 80)


def retry() -> None:
    while True:
        connect("192.0.2.1", 80)
        time.sleep(0.02)


def begin() -> str:
    '''Works offline.'''
    threading.Thread(target=retry, daemon=True).start()
    time.sleep(0.1)
    return "begun"


tools = [connect, find, count, begin]
"""


def call(tool: str, sent: Sending = "in turn", **arguments: Any) -> Invocation:
    return Invocation(tool, json.dumps(arguments), sent)


@pytest.mark.full
def test_calls_together_cancelled_and_afresh(tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(SERVER)
    with ToolHost(f"mcp:{sys.executable} {server}", CallConditions(shelter="none")) as bench:
        made = run_calls(bench, [call("meet", "together", name="A"), call("meet", name="B"), call("look")])
        assert [each.text for each in made] == ["A met ['B']", "B met ['A']", "['A', 'B']"]
        made = run_calls(bench, [call("look", "afresh"), call("wait", "cancelled"), call("look", "together")])
        assert [each.text for each in made] == ["[]", "", "['cancelled']"]
    settings = Settings(sandbox="none", timeout=30.0)
    calls = [("meet", {"name": "A"}, "together"), ("meet", {"name": "B"})]
    assert replay_calls(f"mcp:{sys.executable} {server}", calls, settings).ruling == "fine"
    with pytest.raises(UsageError, match="invalid way to send a call: 'at once'"):
        replay_calls(f"mcp:{sys.executable} {server}", [("look", {}, "at once")], settings)


@pytest.mark.full
def test_a_call_that_is_answered_before_it_is_cancelled_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("misstep.adapters.mcp.tools.TURNS", [1_000_000] * 3)  # until there is a reply
    (tmp_path / "server.py").write_text(SERVER)
    toolset = bind_servers([McpServer("meetings", (sys.executable, str(tmp_path / "server.py")))], "server")
    try:
        tools = {bound.described.name: bound for bound in toolset.bounds}
        tools["note"].begin({"name": "A"})(0.0)
        assert tools["look"].call({}).text == "['A', 'A', 'A']"
    finally:
        toolset.close()


@pytest.mark.skipif(bool(find_bubblewrap().problem), reason="there is no bubblewrap")
def test_attempts_to_reach_the_network(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    probes = [
        Probe(call("connect", host="192.0.2.1", port=80), watch=True),
        Probe(call("connect", host="127.0.0.1", port=80), watch=True),
        Probe(call("find", name="example.com"), watch=True),
        Probe(call("find", name="127.0.0.1"), watch=True),
    ]
    with ToolHost(f"{tmp_path}/tools.py:tools", CallConditions(shelter="bubblewrap")) as bench:
        assert [bool(each.connections) for each in bench.run(probes)] == [True, False, True, False]
    with ToolHost(f"{tmp_path}/tools.py:tools", CallConditions(shelter="none")) as bench:
        assert not any(each.connections for each in bench.run(probes[:2]))  # others use this network too


@pytest.mark.skipif(bool(find_bubblewrap().problem), reason="there is no bubblewrap")
def test_attempts_while_nothing_is_called(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    abroad, at_home = call("count", host="192.0.2.1"), call("count", host="127.0.0.1")
    calls = [abroad, at_home, abroad, call("begin"), abroad, call("begin")]
    probes = [Probe(each, watch=True) for each in calls]
    with ToolHost(f"{tmp_path}/tools.py:tools", CallConditions(shelter="bubblewrap")) as bench:
        made = list(bench.run(probes))
        assert [each.connections > 0 for each in made] == [True, False, True, True, True, True]
        # Only after calls that are made again with another one between; the third is alone.
        assert [each.background > 0 for each in made] == [False, False, False, False, True, True]
