"""Invalid messages while requests wait for replies, and servers that answer late."""

import asyncio
import multiprocessing
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="mcp 2 is not installed")

from misstep.adapters.mcp import connections
from misstep.adapters.mcp.connections import Connection
from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.requests import call_tool
from misstep.adapters.mcp.stdio import next_line
from misstep.adapters.toolset.calling import Garbled

GARBLED = Path(__file__).parents[1] / "toolset" / "servers" / "garbled.py"
NEWEST = "2026-07-28"


def connected(program: Path, do: Callable[[Connection], Awaitable[None]], *arguments: str) -> None:
    async def main() -> None:
        connection = Connection(McpServer("g", (sys.executable, str(program), *arguments)))
        try:
            await connection.start()
            await do(connection)
        finally:
            await connection.stop()
            connection.close()

    asyncio.run(main())


def call(connection: Connection, how: str) -> Awaitable[Any]:
    return call_tool(connection, "nonsense", {"how": how})


def test_a_request_keeps_its_problem_while_others_are_answered() -> None:
    async def two_at_once(connection: Connection) -> None:
        first = asyncio.ensure_future(call(connection, "no message"))
        await asyncio.sleep(0)
        for _ in range(3):
            assert (await call(connection, "")).content[0].text == "fine"
        with pytest.raises(Garbled, match="JSON that is not a message"):
            await first

    connected(GARBLED, two_at_once)


def test_nothing_is_read_of_a_line_that_is_too_long() -> None:
    async def lines() -> list[bytes | None]:
        output = asyncio.StreamReader(limit=100)
        reading = asyncio.ensure_future(read_all(output))
        for part in (b"one\n", b"x" * 300, b"x" * 300, b"y" * 50 + b"\n", b"z" * 200 + b"\ntwo\nthree"):
            output.feed_data(part)
            await asyncio.sleep(0)
        output.feed_eof()
        return await reading

    async def read_all(output: asyncio.StreamReader) -> list[bytes | None]:
        found = list[bytes | None]()
        while (line := await next_line(output)) != b"":
            found.append(line)
        return found

    assert asyncio.run(lines()) == [b"one\n", None, None, b"two\n", b"three"]


def test_many_invalid_lines_schedule_one_end_of_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    async def much_chatter(connection: Connection) -> None:
        loop, scheduled = asyncio.get_running_loop(), list[Any]()
        usual = loop.call_later

        def call_later(delay: float, callback: Any, *arguments: Any) -> Any:
            scheduled.extend([callback] if callback == connection._give_up else [])
            return usual(delay, callback, *arguments)

        monkeypatch.setattr(loop, "call_later", call_later)
        with pytest.raises(Garbled, match="a line that is not JSON: line 0,"):
            await call(connection, "much chatter")
        assert len(scheduled) == 1

    connected(GARBLED, much_chatter)


IGNORES_DISCOVER = """
import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    with open(__file__ + ".log", "a") as log:
        print(request["method"], file=log)
    answer = {"jsonrpc": "2.0", "id": request.get("id")}
    if request["method"] == "initialize":
        version = request["params"]["protocolVersion"]
        about = {"name": "ignores", "version": "1"}
        answer["result"] = {"protocolVersion": version, "capabilities": {}, "serverInfo": about}
        print(json.dumps(answer), flush=True)
"""


def test_a_server_that_ignores_discover_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by this process nor by others with the same parent: every start of a server may have its own."""
    monkeypatch.setattr("mcp.client.session.DISCOVER_TIMEOUT_SECONDS", 0.2)
    program, log = tmp_path / "server.py", tmp_path / "server.py.log"
    program.write_text(IGNORES_DISCOVER)

    async def nothing(connection: Connection) -> None:
        assert "ignores" in connection.about

    first = multiprocessing.get_context("fork").Process(target=connected, args=(program, nothing))
    first.start()
    first.join()
    assert log.read_text().split()[:3] == ["server/discover"] * 2 + ["initialize"]
    log.unlink()
    connected(program, nothing)
    assert log.read_text().split()[0] == "initialize"


def test_a_server_that_no_longer_answers_initialize_is_asked_as_others(tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text(Path(__file__).with_name("revision_server.py").read_text())
    server = McpServer("g", (sys.executable, str(program), NEWEST))
    connections._IGNORES_DISCOVER[connections._number_of(server)] = True

    async def about(connection: Connection) -> None:
        assert connection.about.endswith(f"MCP {NEWEST}")

    connected(program, about, NEWEST)


@pytest.mark.full
def test_a_late_start_does_not_change_the_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server knows two revisions, and answers nothing before it has got two requests."""
    monkeypatch.setattr("mcp.client.session.DISCOVER_TIMEOUT_SECONDS", 3.0)
    text = Path(__file__).with_name("revision_server.py").read_text()
    text = text.replace('    del RESULTS["initialize"]\n', "").replace(
        '"protocolVersion": REVISION', '"protocolVersion": "2025-11-25"'
    )
    late = (
        "from itertools import chain\n"
        "for line in chain([sys.stdin.readline(), sys.stdin.readline()], sys.stdin):"
    )
    (tmp_path / "late.py").write_text(text.replace("for line in sys.stdin:", late))

    async def about(connection: Connection) -> None:
        assert connection.about.endswith(f"MCP {NEWEST}")

    connected(tmp_path / "late.py", about, NEWEST)
