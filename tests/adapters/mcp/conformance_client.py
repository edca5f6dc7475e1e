"""Our client as a program for the official conformance suite: calls each tool of the server at a URL."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from mcp import MCPError
from pydantic import ValidationError

from misstep.adapters.mcp.connections import Connection
from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.requests import call_tool
from misstep.adapters.mcp.tools import found_on
from misstep.adapters.toolset.found import usable
from misstep.core.agent import Tool
from misstep.core.rng import Dice
from misstep.schemas.examples import make_up


def calls_of(tools: Sequence[Tool]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls that a scenario wants, or one of each tool; one tool wants the schema of another back."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    if wanted := context.get("toolCalls"):
        yield from ((call["name"], call["arguments"]) for call in wanted)
        return
    for tool in tools:
        arguments = make_up(tool.parameters, Dice(0))
        yield tool.name, {"schema": tools[0].parameters} if "schema" in arguments else arguments


async def main(url: str) -> None:
    connection = Connection(McpServer(url, url=url))
    try:
        await connection.start(20)
        found = found_on(connection.server, await connection.tools())
        for name, arguments in calls_of(
            [described.tool for described, _ in usable(found, url)] if found else []
        ):
            with suppress(MCPError, ValidationError):  # which some scenarios provoke
                await call_tool(connection, name, arguments)
    finally:
        await connection.stop()
        connection.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
