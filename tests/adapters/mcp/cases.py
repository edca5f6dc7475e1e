"""Worlds and recorders for the tests of MCP."""

from pathlib import Path
from typing import Any

import pytest

from misstep.core.agent import Tool
from misstep.engine.recorder import Deadline, Recorder
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.world.mock import MockWorld, no_arguments

CASE = make_case(Suite(5, 4, 4), 0)
TOOLS = [action.tool for action in CASE.actions]
ROOT = Path(__file__).parents[3]
CLIENTS = ROOT / "tests" / "conformance" / "mcp_clients"
OLDER_VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
JSON_HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}

transports = pytest.mark.parametrize("transport", ["http", "stdio"])


class World:
    """A world with tools of any name."""

    def __init__(self, *names: str) -> None:
        self.tools = [Tool(name, f"does {name}", no_arguments()) for name in names]

    def answer(self, name: str, arguments: Any) -> str:
        return f"did {name}" if name in [tool.name for tool in self.tools] else "Error: no such tool"

    def renewed(self) -> "World":
        return self


def recorder(world: Any = None, max_steps: int = 100) -> Recorder:
    return Recorder(world or MockWorld(CASE), Deadline(60), max_steps)


def called(toolbox: Recorder) -> list[tuple[str, Any]]:
    return [(call.tool, call.arguments) for call in toolbox.calls]
