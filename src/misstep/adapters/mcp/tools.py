"""Lists and calls tools of MCP servers."""

import json
from collections.abc import Sequence
from typing import Any

from misstep.adapters.mcp.connections import PATIENCE, Connection
from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.server import require_mcp
from misstep.adapters.toolset.calling import MOST, ArgumentsRefused, Garbled, Loop, Returned, ServerError
from misstep.adapters.toolset.found import FoundTool, usable
from misstep.adapters.toolset.user_code import settled
from misstep.core.secrets import Redactor
from misstep.core.text import in_words
from misstep.core.tool import Described, Promises


def tools_of_servers(
    servers: Sequence[McpServer], patience: float = PATIENCE, notes: list[str] | None = None
) -> list[FoundTool]:
    """The tools of all servers in order. Raises `UsageError` if one does not list them in time.

    Oddities of servers are appended to `notes`.
    """
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
    if annotations is None:
        return Promises()
    return Promises(
        read_only=annotations.read_only_hint,
        destructive=annotations.destructive_hint,
        idempotent=annotations.idempotent_hint,
        open_world=annotations.open_world_hint,
    )


INVALID_PARAMS, PARSE_ERROR, CONNECTION_CLOSED = -32602, -32700, -32000


class ServerTool:
    """A tool of a server; its code cannot be replaced."""

    entry = None

    def __init__(self, tool: Described, server: "ServerConnection") -> None:
        self.described = tool
        self._server = server

    def call(self, arguments: dict[str, Any]) -> Returned:
        return self._server.call(self.described.name, arguments)


class ServerConnection:
    """The current connection to one server."""

    def __init__(self, server: McpServer, loop: Loop) -> None:
        self._server = server
        self._loop = loop
        self._connection: Connection | None = None

    def open(self) -> list[FoundTool]:
        """Connect and return the tools."""
        self._connection = self._loop.settle(_opened(self._server))
        try:
            return found_on(self._server, self._loop.settle(self._connection.tools()))
        except BaseException:
            self.close()
            raise

    @property
    def notes(self) -> list[str]:
        """Oddities of the server before any call."""
        return self._connection.notes if self._connection else []

    def call(self, name: str, arguments: dict[str, Any]) -> Returned:
        assert self._connection is not None
        returned: Returned = self._loop.settle(_called(self._connection, name, arguments))
        return returned

    def close(self) -> None:
        if self._connection is not None:
            self._loop.settle(self._connection.stop())
            self._connection.close()
            self._connection = None


class Servers:
    """The tools of some servers. Their state is reset by restarting them."""

    forkable = False

    def __init__(self, servers: Sequence[McpServer], spec: str) -> None:
        self._loop = Loop()
        self._lines = [ServerConnection(server, self._loop) for server in servers]
        try:
            found = [(each, line) for line in self._lines for each in line.open()]
            self.skipped = list[str]()
            pairs = usable([each for each, _ in found], spec, self.skipped)
        except BaseException:
            self.close()
            raise
        lines = {id(each): line for each, line in found}
        self.bounds = [ServerTool(tool, lines[id(each)]) for tool, each in pairs]
        self.notes = [note for line in self._lines for note in line.notes]

    def close(self) -> None:
        for line in self._lines:
            line.close()
        self._loop.close()


async def _opened(server: McpServer) -> Connection:
    connection = Connection(server)
    try:
        await connection.start()
    except BaseException:
        connection.close()
        raise
    return connection


async def _called(connection: Connection, name: str, arguments: dict[str, Any]) -> Returned:
    from mcp import MCPError
    from pydantic import ValidationError

    try:
        return _returned(await connection.ask(name, arguments), connection.redact)
    except MCPError as error:
        raise await _meaning(connection, error) from error
    except ValidationError as error:
        message = f"a result that is none by the protocol: {connection.redact(in_words(error))}"
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
