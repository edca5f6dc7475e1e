"""The tools of a case over MCP, served to any client of any version."""

import asyncio
import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="mcp 2 is not installed")

from mcp import Client, MCPError, StdioServerParameters

from misstep.adapters.mcp.agent import link_entry
from misstep.adapters.mcp.server import McpToolServer, offered_names
from misstep.adapters.mcp.transports import PATIENCE, Switchboard, serve_http, serve_stdio
from misstep.engine.recorder import Recorder
from misstep.errors import UsageError
from misstep.planning.world.mock import no_arguments
from tests.adapters.mcp.cases import (
    JSON_HEADERS,
    OLDER_VERSIONS,
    ROOT,
    TOOLS,
    World,
    called,
    recorder,
    transports,
)

# Names


def test_names_that_mcp_allows_stay_as_they_are() -> None:
    names = ["b.c", "A-1", "z_9", "a" * 128]
    assert offered_names(names) == {name: name for name in names}


def test_other_names_become_allowed_ones_and_none_gets_lost() -> None:
    names = ["paint the fence", "paint_the_fence", "paint/the/fence", "", "ünï", "a" * 128 + "b", "a" * 128]
    offered = offered_names(names)
    assert list(offered.values()) == names
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,128}", name) for name in offered)


# Requests by hand, on either transport


def by_hand(version: str, *asked: tuple[str, Any]) -> list[dict[str, Any]]:
    client = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "hand", "version": "1"}}
    greeting = ("initialize", client)
    return [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate([greeting, *asked])
    ]


async def over_stdio(toolbox: Recorder, requests: list[dict[str, Any]]) -> list[Any]:
    """Say everything at once and hang up: what was asked before is answered all the same."""
    theirs, ours = os.pipe(), os.pipe()
    os.write(theirs[1], b"".join(json.dumps(request).encode() + b"\n" for request in requests))
    os.close(theirs[1])
    await serve_stdio(toolbox, theirs[0], ours[1])
    os.close(ours[1])
    with os.fdopen(ours[0]) as replies, os.fdopen(theirs[0]):
        return sorted(map(json.loads, replies), key=lambda reply: reply["id"])


async def over_http(toolbox: Recorder, requests: list[dict[str, Any]]) -> list[Any]:
    version = requests[0]["params"]["protocolVersion"]

    def talk(url: str) -> list[Any]:
        return [json.loads(post(url, request, {"mcp-protocol-version": version})[1]) for request in requests]

    return await while_served(toolbox, talk)


async def while_served(toolbox: Recorder, talk: Callable[[str], Any], **where: Any) -> Any:
    """What `talk` returns, done in a thread while the tools are served to it over HTTP."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve_http(toolbox, ready=ready.set_result, **where))
    try:
        return await asyncio.to_thread(talk, await ready)
    finally:
        serving.cancel()
        await asyncio.wait([serving])


def post(url: str, message: Any, headers: dict[str, str], method: str = "POST") -> tuple[int, bytes]:
    parts = urlsplit(url)
    link = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        link.request(method, parts.path, json.dumps(message), JSON_HEADERS | headers)
        response = link.getresponse()
        return response.status, response.read()
    finally:
        link.close()


TALKS: dict[str, Callable[[Recorder, list[dict[str, Any]]], Awaitable[list[Any]]]] = {
    "stdio": over_stdio,
    "http": over_http,
}


@transports
@pytest.mark.parametrize("version", OLDER_VERSIONS)
def test_older_versions_of_the_protocol_are_spoken(version: str, transport: str) -> None:
    toolbox = recorder()
    asked = by_hand(version, ("tools/list", {}), ("tools/call", {"name": TOOLS[2]}))
    hello, listed, result = asyncio.run(TALKS[transport](toolbox, asked))
    assert hello["result"]["protocolVersion"] == version
    assert [tool["name"] for tool in listed["result"]["tools"]] == TOOLS
    assert [tool["inputSchema"] for tool in listed["result"]["tools"]] == [no_arguments()] * len(TOOLS)
    assert "successfully" in result["result"]["content"][0]["text"]
    assert called(toolbox) == [(TOOLS[2], {})]


ODD_CALLS = [
    ({"name": TOOLS[0], "arguments": [1, 2]}, (TOOLS[0], [1, 2])),
    ({"name": TOOLS[0], "arguments": '{"broken": '}, (TOOLS[0], '{"broken": ')),
    ({"name": TOOLS[0], "arguments": 0}, (TOOLS[0], 0)),
    ({"name": TOOLS[0], "arguments": {"surprise": 1}, "task": "odd"}, (TOOLS[0], {"surprise": 1})),
    ({"name": TOOLS[0], "arguments": False, "_meta": {"progressToken": []}}, (TOOLS[0], False)),
    ({"name": TOOLS[0], "arguments": "", "_meta": "odd"}, (TOOLS[0], "")),
]
UNDECLARED = [
    ({"name": "no such tool", "arguments": {"a": [1]}}, ("no such tool", {"a": [1]})),
    ({"name": 7, "arguments": {}}, ("7", {})),
    ({"arguments": {}}, ("", {})),
]


@transports
@pytest.mark.parametrize(("params", "recorded"), ODD_CALLS)
def test_odd_calls_are_recorded_and_answered_as_errors(params: Any, recorded: Any, transport: str) -> None:
    toolbox = recorder()
    *_, reply = asyncio.run(TALKS[transport](toolbox, by_hand("2025-06-18", ("tools/call", params))))
    assert called(toolbox) == [recorded]
    assert reply["result"]["isError"] is True
    assert reply["result"]["content"][0]["text"].startswith("Error: ")


@transports
@pytest.mark.parametrize("version", OLDER_VERSIONS)
@pytest.mark.parametrize(("params", "recorded"), UNDECLARED)
def test_calls_of_undeclared_tools_are_recorded_and_end_in_an_error_of_the_protocol(
    params: Any, recorded: Any, version: str, transport: str
) -> None:
    toolbox = recorder()
    *_, reply = asyncio.run(TALKS[transport](toolbox, by_hand(version, ("tools/call", params))))
    assert called(toolbox) == [recorded]
    assert reply["error"]["code"] == -32602
    assert reply["error"]["message"].startswith("Error: there is no tool named")


@transports
def test_calls_reach_the_tools_that_renamed_ones_stand_for(transport: str) -> None:
    toolbox = recorder(World("paint the fence", "paint_the_fence"))
    asked = by_hand(
        "2025-06-18",
        ("tools/list", {}),
        *(("tools/call", {"name": f"paint_the_fence{n}"}) for n in ("", "_2")),
    )
    _, listed, first, second = asyncio.run(TALKS[transport](toolbox, asked))
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["paint_the_fence", "paint_the_fence_2"]
    assert [each["result"]["content"][0]["text"] for each in (first, second)] == [
        "did paint the fence",
        "did paint_the_fence",
    ]


def test_calls_made_at_once_are_recorded_in_the_order_of_arrival_each_in_a_turn_of_its_own() -> None:
    toolbox = recorder()
    names = [TOOLS[number % len(TOOLS)] for number in range(60)]
    replies = asyncio.run(
        over_stdio(toolbox, by_hand("2025-06-18", *(("tools/call", {"name": name}) for name in names)))
    )
    assert [call.tool for call in toolbox.calls] == names
    assert [call.turn for call in toolbox.calls] == list(range(1, 61))
    assert all(reply["result"]["isError"] is False for reply in replies[1:])


@transports
def test_past_the_last_turn_the_client_is_told_that_it_is_over(transport: str) -> None:
    toolbox = recorder(max_steps=1)
    asked = by_hand("2025-06-18", *[("tools/call", {"name": TOOLS[0]})] * 3)
    *_, third = asyncio.run(TALKS[transport](toolbox, asked))
    assert "no turns are left" in third["result"]["content"][0]["text"]
    assert len(toolbox.calls) == 1


def test_rubbish_does_not_end_a_connection() -> None:
    toolbox = recorder()
    rubbish: list[Any] = ["hello", {"jsonrpc": "1.0"}, [], None, {"id": 1}]
    good = by_hand("2025-06-18", ("tools/call", {"name": TOOLS[0]}))
    asyncio.run(over_stdio(toolbox, [*rubbish, good[0], *rubbish, good[1]]))
    assert called(toolbox) == [(TOOLS[0], {})]


# HTTP


def test_only_clients_on_this_machine_are_let_in() -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

    def talk(url: str) -> list[int]:
        port = urlsplit(url).port
        asked: list[dict[str, str]] = [
            {},
            {"host": f"localhost:{port}"},
            {"host": f"evil.example:{port}"},
            {"origin": "http://evil.example"},
        ]
        return [post(url, ping, headers)[0] for headers in asked]

    assert asyncio.run(while_served(recorder(), talk)) == [200, 200, 421, 403]


def test_there_is_nothing_beside_the_path_and_nothing_to_get() -> None:
    def talk(url: str) -> list[int]:
        return [
            post(f"{url}/", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, {})[0],
            post(f"{url}x", {}, {})[0],
            post(url, {}, {}, "GET")[0],
            post(url, {}, {}, "DELETE")[0],
        ]

    assert asyncio.run(while_served(recorder(), talk)) == [200, 404, 405, 405]


def test_away_from_loopback_the_path_is_secret() -> None:
    def talk(url: str) -> str:
        return urlsplit(url).path

    paths = [
        asyncio.run(while_served(recorder(), talk, host=host)) for host in ("127.0.0.1", "0.0.0.0", "0.0.0.0")
    ]
    assert paths[0] == "/mcp"
    assert re.fullmatch(r"/[\w-]{32}/mcp", paths[1])
    assert paths[1] != paths[2]


def test_a_port_in_use_is_a_usage_error() -> None:
    async def main(url: str) -> None:
        await serve_http(recorder(), port=urlsplit(url).port or 0)

    def talk(url: str) -> None:
        with pytest.raises(UsageError, match=r"can't listen on 127\.0\.0\.1"):
            asyncio.run(main(url))

    asyncio.run(while_served(recorder(), talk))


def test_serving_leaves_signals_alone() -> None:
    async def main() -> None:
        before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]

        def talk(_: str) -> list[Any]:
            return [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]

        assert await while_served(recorder(), talk) == before

    asyncio.run(main())


# Today's protocol, through the SDK


async def use(target: Any) -> list[str]:
    async with Client(target) as client:
        assert client.protocol_version == "2026-07-28"
        names = [tool.name for tool in (await client.list_tools()).tools]
        results: list[Any] = [await client.call_tool(name, {}) for name in names]
        assert [result.is_error for result in results] == [False] * len(names)
        with pytest.raises(MCPError, match="there is no tool named 'no_such_tool'"):
            await client.call_tool("no_such_tool", {})
        return names


def test_the_sdk_of_today_is_served_over_http() -> None:
    toolbox = recorder()
    names = asyncio.run(while_served(toolbox, lambda url: asyncio.run(use(url))))
    assert [call.tool for call in toolbox.calls] == [*names, "no_such_tool"] == [*TOOLS, "no_such_tool"]


def test_the_sdk_of_today_is_served_through_a_link(tmp_path: Path) -> None:
    toolbox = recorder()

    async def main() -> list[str]:
        board = Switchboard()
        async with board.serving(McpToolServer(toolbox)) as address:
            (tmp_path / "address").write_text(address)
            names = await use(StdioServerParameters(**link_entry(tmp_path / "address")))
        await board.close()
        return names

    names = asyncio.run(main())
    assert [call.tool for call in toolbox.calls] == [*names, "no_such_tool"] == [*TOOLS, "no_such_tool"]


@contextmanager
def linked(address: Path) -> Iterator[subprocess.Popen[bytes]]:
    entry, pipe = link_entry(address), subprocess.PIPE
    command = [entry["command"], *entry["args"]]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as link:
        try:
            yield link
        finally:
            link.kill()


def greet(link: subprocess.Popen[bytes]) -> bytes:
    assert link.stdin
    assert link.stdout
    link.stdin.write(json.dumps(by_hand("2025-06-18")[0]).encode() + b"\n")
    link.stdin.flush()
    return link.stdout.readline()


def test_a_link_ends_with_its_case(tmp_path: Path) -> None:
    async def main(links: ExitStack) -> None:
        board = Switchboard()
        async with board.serving(McpToolServer(recorder())) as address:
            (tmp_path / "address").write_text(address)
            link = links.enter_context(linked(tmp_path / "address"))
            assert b"2025-06-18" in await asyncio.to_thread(greet, link)
        assert await asyncio.to_thread(link.wait, 30) == 0
        with linked(tmp_path / "address") as late:
            assert await asyncio.to_thread(greet, late) == b""
            assert await asyncio.to_thread(late.wait, 30) == 0
        await board.close()

    with ExitStack() as links:
        asyncio.run(main(links))
    with linked(tmp_path / "address") as too_late:
        assert too_late.wait(30) == 1
        assert b"the case is over" in too_late.communicate()[1]


def test_a_link_ends_with_its_client(tmp_path: Path) -> None:
    async def main() -> None:
        board = Switchboard()
        async with board.serving(McpToolServer(recorder())) as address:
            (tmp_path / "address").write_text(address)
            with linked(tmp_path / "address") as link:
                await asyncio.to_thread(greet, link)
                assert link.stdin
                link.stdin.close()
                assert await asyncio.to_thread(link.wait, 30) == 0
        await board.close()

    asyncio.run(main())


def test_strangers_are_cut(tmp_path: Path) -> None:
    async def main() -> None:
        board = Switchboard()
        async with board.serving(McpToolServer(recorder())) as address:
            (tmp_path / "address").write_text(f"{address}x")
            with linked(tmp_path / "address") as wrong:
                assert await asyncio.to_thread(wrong.wait, 30) == 0
            host, port, _ = address.split()
            reader, writer = await asyncio.open_connection(host, int(port))
            await board.close()
            async with asyncio.timeout(PATIENCE / 2):
                with suppress(ConnectionResetError):
                    assert await reader.read() == b""
            writer.close()

    asyncio.run(main())


# The user stops it

SERVE_AND_REPORT = """
import asyncio, json, sys
from misstep.adapters.mcp.transports import serve_http, serve_stdio
from misstep.engine.recorder import Deadline
from misstep.engine.recorder import Recorder
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.world.mock import MockWorld

toolbox = Recorder(MockWorld(make_case(Suite(5, 4, 4), 0)), Deadline(60), 100)
ready = lambda url: print(url, flush=True)
try:
    asyncio.run(serve_stdio(toolbox) if sys.argv[1] == "stdio" else serve_http(toolbox, ready=ready))
except KeyboardInterrupt:
    print("interrupted", file=sys.stderr)
print([call.tool for call in toolbox.calls], file=sys.stderr)
"""


@pytest.mark.full
@transports
def test_an_interrupted_server_knows_its_calls(transport: str) -> None:
    requests = by_hand("2025-06-18", ("tools/call", {"name": TOOLS[1]}))
    command = [sys.executable, "-c", SERVE_AND_REPORT, transport]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT, text=True) as server:
        assert server.stdin
        assert server.stdout
        if transport == "http":
            url = server.stdout.readline().strip()
            for request in requests:
                post(url, request, {})
        else:
            for request in requests:
                server.stdin.write(json.dumps(request) + "\n")
                server.stdin.flush()
                server.stdout.readline()
        server.send_signal(signal.SIGINT)
        server.wait(30)
        assert server.stderr
        assert server.stderr.read().splitlines() == ["interrupted", str([TOOLS[1]])]
        assert server.returncode == 0
