"""Lists and calls tools of MCP servers."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from misstep.adapters.loading.source import settled
from misstep.adapters.mcp.connections import PATIENCE, Connection
from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.server import require_mcp
from misstep.adapters.toolset.calling import (
    MOST,
    ArgumentsRefused,
    BoundTool,
    Garbled,
    Loop,
    Returned,
    ServerError,
    Toolset,
)
from misstep.adapters.toolset.found import FoundTool, usable
from misstep.core.secrets import Redactor
from misstep.core.text import in_words
from misstep.core.tool import Promises


def tools_of_servers(
    servers: Sequence[McpServer], patience: float = PATIENCE, notes: list[str] | None = None
) -> list[FoundTool]:
    """The tools of all servers, oddities in `notes`. Raises `UsageError` if one does not list them."""
    require_mcp()
    kept = [] if notes is None else notes
    return [found for server in servers for found in settled(_asked(server, patience, kept))]


def found_on(server: McpServer, tools: Sequence[Any]) -> list[FoundTool]:
    """Tools from SDK objects; `server` is where they were found."""
    return [
        FoundTool(
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


async def _asked(server: McpServer, patience: float, notes: list[str]) -> list[FoundTool]:
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
    names = ("read_only", "destructive", "idempotent", "open_world")
    return Promises(**{name: getattr(annotations, f"{name}_hint", None) for name in names})


INVALID_PARAMS, PARSE_ERROR, CONNECTION_CLOSED = -32602, -32700, -32000


def bind_servers(servers: Sequence[McpServer], spec: str) -> Toolset:
    """The tools of some servers, whose state is reset by restarting them."""
    loop, connections, skipped = Loop(), list[Connection](), list[str]()

    def close() -> None:
        for connection in connections:
            loop.settle(connection.stop())
            connection.close()
        connections.clear()
        loop.close()

    found = list[tuple[FoundTool, Connection]]()
    try:
        for server in servers:
            connection = Connection(server)
            connections.append(connection)
            loop.settle(connection.start())
            found += [(each, connection) for each in found_on(server, loop.settle(connection.tools()))]
        pairs = usable([each for each, _ in found], spec, skipped)
    except BaseException:
        close()
        raise
    homes = {id(each): connection for each, connection in found}
    bounds = [BoundTool(tool, partial(_call, loop, homes[id(each)], tool.name)) for tool, each in pairs]
    return Toolset(bounds, False, close, skipped, [note for each in connections for note in each.notes])


def _call(loop: Loop, connection: Connection, name: str, arguments: dict[str, Any]) -> Returned:
    returned: Returned = loop.settle(_called(connection, name, arguments))
    return returned


async def _called(connection: Connection, name: str, arguments: dict[str, Any]) -> Returned:
    from mcp import MCPError
    from pydantic import ValidationError

    try:
        return _returned(await connection.ask(name, arguments), connection.redact)
    except MCPError as error:
        raise await _meaning(connection, error) from error
    except ValidationError as error:
        message = f"a result that breaks the protocol: {connection.redact(in_words(error))}"
        raise Garbled(message) from error


async def _meaning(connection: Connection, error: Any) -> Exception:
    """The exception for a JSON-RPC error; some are the SDK's own messages for other problems."""
    code, message = int(error.code), connection.redact(in_words(error.message))
    if code == INVALID_PARAMS:
        return ArgumentsRefused(message)
    if code == PARSE_ERROR and message.startswith("Failed to parse"):
        return Garbled(message)
    if code == CONNECTION_CLOSED and (connection.ended or message.startswith(("Connection closed", "SSE"))):
        return await connection.gone()
    return ServerError(code, message)


def _returned(result: Any, redact: Redactor) -> Returned:
    """The result without secrets that the server was given."""
    text = redact("\n".join(_shown(each) for each in result.content))
    structured = result.structured_content
    written = None if structured is None else redact(json.dumps(structured, ensure_ascii=True))
    return Returned(text[:MOST], len(text), written, bool(result.is_error))


def _shown(content: Any) -> str:
    """A part of a result as text: texts unchanged, the type of anything else."""
    resource = getattr(content, "resource", None)
    for text in (getattr(content, "text", None), getattr(resource, "text", None)):
        if isinstance(text, str):
            return text
    data = getattr(content, "data", None) or getattr(resource, "blob", None) or ""
    return f"({content.type}, {len(data)} characters)"
