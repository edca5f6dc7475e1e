"""Calls that a server answers with a task are followed to the end of that."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="mcp 2 is not installed")

from misstep import Settings, replay_calls
from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.tools import bind_servers
from misstep.adapters.toolset.calling import BoundTool, ServerError

SERVER = Path(__file__).with_name("task_server.py")
OLD, NEW = "2025-11-25", "2026-07-28"


@pytest.fixture(params=[OLD, NEW])
def revision(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def tools(revision: str) -> Iterator[dict[str, BoundTool]]:
    toolset = bind_servers([McpServer("t", (sys.executable, str(SERVER), revision))], "mcp:t")
    yield {bound.described.name: bound for bound in toolset.bounds}
    toolset.close()


def test_a_task_is_looked_at_until_it_is_over(tools: dict[str, BoundTool], revision: str) -> None:
    log, _ = json.loads(tools["build"].call({"n": 1}).text)
    assert log == ["tasks/get", "tasks/get", *(["tasks/result"] if revision == OLD else [])]


def test_what_a_task_asks_for_is_answered(tools: dict[str, BoundTool]) -> None:
    answers = [json.loads(tools["ask"].call({"n": number}).text)[1] for number in range(8)]
    accepted = [each for each in answers if each["action"] == "accept"]
    assert accepted
    assert all(3 <= each["content"]["size"] <= 5 for each in accepted if each["content"])


def test_a_task_that_fails_is_an_error(tools: dict[str, BoundTool], revision: str) -> None:
    with pytest.raises(ServerError, match="the oven is cold"):
        tools["fail"].call({"n": 1})
    if revision == NEW:
        with pytest.raises(ServerError, match="the task is cancelled"):
            tools["stop"].call({"n": 1})


@pytest.mark.full
def test_a_task_that_never_ends_is_a_hang(revision: str) -> None:
    settings = Settings(sandbox="none", timeout=2.0)
    judged = replay_calls(f"mcp:{sys.executable} {SERVER} {revision}", [("drift", {"n": 1})], settings)
    assert judged.ruling == "hang"
