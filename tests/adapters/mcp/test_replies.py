"""What servers of all revisions ask our client, and what they offer besides tools."""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="mcp 2 is not installed")

from misstep.adapters.mcp.connections import Connection
from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.replies import wants_progress
from misstep.adapters.mcp.requests import call_tool
from misstep.adapters.mcp.tools import bind_servers
from misstep.adapters.toolset.calling import ArgumentsRefused
from misstep.fuzzing.returned import filled_in
from tests.adapters.mcp.cases import OLDER_VERSIONS, ROOT
from tests.processes import drain

SERVER = Path(__file__).with_name("revision_server.py")
NEWEST = "2026-07-28"
ASKED = {
    "2024-11-05": ["sampling", "roots", "ping"],
    "2025-03-26": ["sampling", "roots", "ping"],
    "2025-06-18": ["sampling", "elicitation", "roots", "ping"],
    "2025-11-25": ["sampling", "elicitation", "roots", "ping"],
    NEWEST: ["sampling", "elicitation", "roots"],
}
revisions = pytest.mark.parametrize("revision", [*OLDER_VERSIONS, NEWEST])


def server(revision: str, *more: str) -> McpServer:
    return McpServer("r", (sys.executable, str(SERVER), revision, *more))


def answers(revision: str, *calls: dict[str, Any], more: str = "") -> list[Any]:
    """What the server was told during each of these calls, made one after the other."""

    async def main() -> list[Any]:
        connection = Connection(server(revision, more))
        try:
            await connection.start()
            assert connection.about.endswith(f"MCP {revision}")
            await connection.tools()
            results = [await call_tool(connection, "ask", arguments) for arguments in calls]
            return [json.loads(result.content[0].text) for result in results]
        finally:
            await connection.stop()
            connection.close()

    return asyncio.run(main())


@revisions
def test_servers_of_any_revision_get_answers(revision: str, tmp_path: Path) -> None:
    (told,) = answers(revision, {"kinds": ASKED[revision], "n": 1}, more=str(tmp_path))
    assert told["sampling"]["role"] == "assistant"
    assert told["sampling"]["content"]["type"] == "text"
    assert [each["uri"] for each in told["roots"]["roots"]] == [Path.cwd().as_uri(), tmp_path.as_uri()]
    if "elicitation" in told:
        assert told["elicitation"]["action"] == "accept"
        assert 3 <= told["elicitation"]["content"]["size"] <= 5
    assert told.get("ping", {}) == {}
    assert told.get("state") == ("first" if revision == NEWEST else None)


def test_answers_follow_from_the_call_and_differ_between_calls() -> None:
    calls = [{"kinds": ["sampling", "elicitation"], "n": number % 40} for number in range(80)]
    told = answers("2025-11-25", *calls)
    assert told[:20] == answers("2025-11-25", *calls[:20])
    assert told[:40] != told[40:]  # a call that is made again gets others
    actions = {each["elicitation"]["action"] for each in told}
    assert actions == {"accept", "decline", "cancel"}
    forms = [each["elicitation"].get("content", {"city": "", "kind": "b"}) for each in told]
    assert all(isinstance(form["city"], str) and form["kind"] in "ab" for form in forms)
    assert {len(form) for form in forms} == {2, 3}
    texts = {each["sampling"]["content"]["text"] for each in told if "content" in each["sampling"]}
    assert "" in texts
    assert len(texts) > 4
    assert {"code": -1, "message": "User rejected sampling request"} in [each["sampling"] for each in told]


@revisions
def test_about_half_of_the_calls_ask_for_progress_and_the_same_call_always_does_as_before(
    revision: str,
) -> None:
    calls = [{"about": "progress", "n": number} for number in range(40)]
    told = answers(revision, *calls, *reversed(calls))
    assert told[40:] == told[39::-1]
    assert told[:40] == [wants_progress("ask", call) for call in calls]
    assert 10 < sum(told[:40]) < 30


def test_ids_do_not_decide_whether_a_call_asks_for_progress() -> None:
    for number in range(20):
        stored = {"session": "${result.session}", "rows": ["${result.id:number}"], "n": number}
        for latest in ({"session": "sess_5f2a", "id": 7}, {"session": "sess_91bc", "id": 8}):
            assert wants_progress("read", filled_in(stored, latest)) is wants_progress("read", stored)
    assert len({wants_progress("read", {"text": each}) for each in ("a", "b", "c", "d", "e", "f")}) == 2


def test_what_a_client_does_not_know_is_an_error() -> None:
    (told,) = answers("2025-11-25", {"kinds": ["unknown"]})
    assert told["unknown"]["code"] == -32601


@revisions
def test_resources_prompts_and_completion_can_be_called(revision: str) -> None:
    toolset = bind_servers([server(revision)], "mcp:r", beside=True)
    try:
        call = {bound.described.name: bound.call for bound in toolset.bounds}
        assert list(call) == [
            "ask",
            "resources/read",
            "resource:notes://{title}",
            "prompt:greet",
            "completion:prompt:greet",
            "completion:resource:notes://{title}",
        ]
        assert call["resources/read"]({"uri": "notes://first"}).text == "note notes://first"
        assert call["resource:notes://{title}"]({"title": "a b/c"}).text == "note notes://a%20b%2Fc"
        for name in ("Ada", "Bob", "Eve", "Ina", "Leo", "Max", "Zoe"):  # none asks for progress
            assert call["prompt:greet"]({"who": name}).text == f"Hello, {name}"
        typed = {"argument": "who", "value": "A"}
        assert call["completion:prompt:greet"](typed).text == '["A!"]'
        refused = call["resources/read"]({"uri": "notes://none"})
        assert (refused.text, refused.flagged) == ("there is no such note", True)
        with pytest.raises(ArgumentsRefused, match="no request for the server"):
            call["prompt:greet"]({"who": 7})
    finally:
        toolset.close()


def test_agents_get_tools_only() -> None:
    toolset = bind_servers([server("2025-11-25")], "mcp:r")
    toolset.close()
    assert [bound.described.name for bound in toolset.bounds] == ["ask"]


NODE = shutil.which("node")
EVERYTHING = ROOT / ".venv-servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
USED = {
    "trigger-sampling-request": ({"prompt": "hi"}, "LLM sampling result"),
    "trigger-elicitation-request": ({}, "User provided the requested information"),
    "get-roots-list": ({}, Path.cwd().as_uri()),
    "simulate-research-query": ({"topic": "x", "ambiguous": True}, "# Research Report: x"),
    "resource:demo://resource/dynamic/text/{resourceId}": ({"resourceId": "1"}, "Resource 1"),
    "prompt:args-prompt": ({"city": "Oslo"}, "weather in Oslo"),
    "completion:prompt:completable-prompt": ({"argument": "department", "value": "E"}, "Engineering"),
}


@contextmanager
def everything(transport: str) -> Iterator[McpServer]:
    if transport == "stdio":
        yield McpServer("everything", (str(NODE), str(EVERYTHING)))
        return
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(NODE), str(EVERYTHING), "streamableHttp"]
    environment = {**os.environ, "PORT": str(port)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            next(line for line in process.stderr if str(port) in line)
            drain(process.stderr)
            yield McpServer("everything", url=f"http://127.0.0.1:{port}/mcp")
        finally:
            process.kill()


@pytest.mark.full
@pytest.mark.skipif(not (NODE and EVERYTHING.exists()), reason="needs node and .venv-servers")
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_server_that_uses_everything(transport: str) -> None:
    with everything(transport) as found:
        toolset = bind_servers([found], "mcp:everything", beside=True)
        try:
            call = {bound.described.name: bound.call for bound in toolset.bounds}
            told = {name: call[name](arguments).text for name, (arguments, _) in USED.items()}
        finally:
            toolset.close()
    assert {name: text for name, text in told.items() if USED[name][1] not in text} == {}


def test_a_long_name_does_not_hide_the_revision(tmp_path: Path) -> None:
    code = "from mcp.server.mcpserver import MCPServer\n\nMCPServer('x' * 500).run()\n"
    (tmp_path / "named.py").write_text(code)

    async def main() -> str:
        connection = Connection(McpServer("r", (sys.executable, str(tmp_path / "named.py"))))
        try:
            await connection.start()
            return connection.about
        finally:
            await connection.stop()
            connection.close()

    about = asyncio.run(main())
    assert about.startswith("xxx")
    assert about.endswith(f"MCP {NEWEST}")
    assert len(about) <= 200
