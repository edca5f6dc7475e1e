"""Tools of MCP servers, which are asked for their list and for nothing else."""

from collections.abc import Sequence
from typing import Any

from misstep.adapters.mcp.server import require_mcp
from misstep.adapters.toolset.found import Found
from misstep.adapters.toolset.mcp_entries import McpServer
from misstep.adapters.toolset.servers.connections import PATIENCE, Connection
from misstep.adapters.toolset.waiting import settled
from misstep.core.tool import Promises


def tools_of_servers(
    servers: Sequence[McpServer], patience: float = PATIENCE, notes: list[str] | None = None
) -> list[Found]:
    """The tools of all servers in order; a `UsageError` for one that does not tell of them in time.

    What is odd about servers is told of in `notes`, if they are given.
    """
    require_mcp()
    kept = [] if notes is None else notes
    return [found for server in servers for found in settled(_asked(server, patience, kept))]


def found_on(server: McpServer, tools: Sequence[Any]) -> list[Found]:
    """Tools as the SDK has them; `server` is where they were found."""
    return [
        Found(
            f"server {server.name}",
            tool.name,
            tool.description,
            tool.input_schema,
            "mcp",
            output=tool.output_schema,
            promises=_promises(tool.annotations),
        )
        for tool in tools
    ]


async def _asked(server: McpServer, patience: float, notes: list[str]) -> list[Found]:
    connection = Connection(server)
    try:
        await connection.start(patience)
        found = found_on(server, await connection.tools(patience))
        notes += connection.notes
        return found
    finally:
        await connection.stop()
        connection.close()


def _promises(annotations: Any) -> Promises:
    if annotations is None:
        return Promises()
    return Promises(
        read_only=annotations.read_only_hint,
        destructive=annotations.destructive_hint,
        idempotent=annotations.idempotent_hint,
        open_world=annotations.open_world_hint,
    )
