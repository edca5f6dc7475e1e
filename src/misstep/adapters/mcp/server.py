"""The tools of one case as an MCP server, and its transport as lines of JSON over byte streams."""

import asyncio
import logging
import math
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from misstep.core.agent import StepsExhausted, Toolbox
from misstep.errors import MissingExtra

LONGEST = 128
NOT_ALLOWED = re.compile(r"[^A-Za-z0-9._-]")


def offered_names(names: Iterable[str]) -> dict[str, str]:
    """The names to offer, each mapped to its tool's name, in order."""
    offered = dict[str, str]()
    for name in names:
        plain = free = NOT_ALLOWED.sub("_", name)[:LONGEST] or "tool"
        number = 1
        while free in offered:
            number += 1
            ending = f"_{number}"
            free = plain[: LONGEST - len(ending)] + ending
        offered[free] = name
    return offered


SERVER_NAME = "misstep"
OVER = "Error: no turns are left, the case is over."
AS_SENT = "misstep/as-sent"  # where a call is hidden from the SDK's validation
RESERVED = "io.modelcontextprotocol/"  # keys that the protocol itself needs
QUIET = logging.NullHandler()  # otherwise Python prints the libraries' warnings if logging is not configured


def require_mcp() -> None:
    """Raise unless a supported version of the MCP SDK is installed."""
    try:
        from mcp.server import MCPServer  # noqa: F401 -- new in version 2
    except ImportError:
        raise MissingExtra("mcp 2", "mcp") from None
    for library in ("mcp", "uvicorn"):
        logging.getLogger(library).addHandler(QUIET)


class McpToolServer:
    """Serves a toolbox to any number of connections.

    Every call is passed to the toolbox in order of arrival, including calls of unknown tools and arguments
    that are not an object. The result says what is wrong, so that the client's model can see it; for an
    unknown tool, the protocol wants an error instead.
    """

    def __init__(self, toolbox: Toolbox) -> None:
        require_mcp()
        from mcp.server import Server

        self._toolbox = toolbox
        self.offered = offered_names(tool.name for tool in toolbox.tools)
        self.exhausted = asyncio.Event()  # set by a call after the last turn
        self.visited = False  # a client has sent a request
        sdk: Any = Server(SERVER_NAME, on_list_tools=self._list, on_call_tool=self._call)
        sdk.middleware = [self._let_in]
        self.sdk = sdk

    async def _let_in(self, context: Any, call_next: Any) -> Any:
        """Pass a call around the SDK, which would reject an invalid one before we see it."""
        self.visited = True
        if context.method == "tools/call":
            context = replace(context, params=_fitting(context.params or {}))
        return await call_next(context)

    async def _list(self, _context: Any, _params: Any) -> Any:
        from mcp.types import ListToolsResult, Tool

        described = zip(self.offered, self._toolbox.tools, strict=True)
        tools = [
            Tool(name=name, description=tool.description, input_schema={"type": "object", **tool.parameters})
            for name, tool in described
        ]
        return ListToolsResult(tools=tools)

    async def _call(self, context: Any, _params: Any) -> Any:
        from mcp import MCPError
        from mcp.types import INVALID_PARAMS, CallToolResult, TextContent

        name, arguments = context.params[AS_SENT]
        tool = self.offered.get(name, name)
        try:
            text = self._toolbox.call(tool, arguments)
        except StepsExhausted:
            self.exhausted.set()
            text = OVER
        if tool not in self.offered.values():
            raise MCPError(INVALID_PARAMS, text)
        said = TextContent(type="text", text=text)
        return CallToolResult(content=[said], is_error=text.startswith("Error"))


def _fitting(params: Mapping[str, Any]) -> dict[str, Any]:
    """Valid parameters that contain the call as it was sent."""
    name, arguments, meta = params.get("name", ""), params.get("arguments"), params.get("_meta")
    sent = (name if isinstance(name, str) else repr(name), {} if arguments is None else arguments)
    envelope = meta if isinstance(meta, Mapping) else {}
    return {
        "name": "tool",
        "_meta": {key: value for key, value in envelope.items() if key.startswith(RESERVED)},
        AS_SENT: sent,
    }


LONGEST_LINE = 4 << 20  # as in the SDK over HTTP
LAST_WORDS = 2.0  # seconds to answer the remaining requests after the client has gone

Write = Callable[[bytes], Awaitable[None]]


async def serve_lines(server: McpToolServer, reader: asyncio.StreamReader, write: Write) -> None:
    """Serve one client until it leaves; outstanding requests are answered first."""
    import anyio

    to_server, requests = anyio.create_memory_object_stream[Any](0)
    replies, from_server = anyio.create_memory_object_stream[Any](math.inf)
    talk = _Talk(reader, write)
    try:
        async with anyio.create_task_group() as tasks, from_server:
            tasks.start_soon(talk.listen, to_server)
            tasks.start_soon(talk.speak, from_server)
            await server.sdk.run(requests, replies, server.sdk.create_initialization_options())
            tasks.cancel_scope.cancel()
    except* OSError:
        pass  # nobody reads our replies


class _Talk:
    """The lines of one connection, and its requests without a reply."""

    def __init__(self, reader: asyncio.StreamReader, write: Write) -> None:
        self._reader = reader
        self._write = write
        self._waiting = set[str]()
        self._settled = asyncio.Event()
        self._settled.set()

    async def listen(self, to_server: Any) -> None:
        async with to_server:
            while line := await self._next_line():
                if message := self._parsed(line):
                    await to_server.send(message)
            async with asyncio.timeout(LAST_WORDS):
                await self._settled.wait()

    async def speak(self, from_server: Any) -> None:
        async for reply in from_server:
            data = reply.message.model_dump_json(by_alias=True, exclude_unset=True)
            await self._write(data.encode() + b"\n")
            self._waiting.discard(repr(getattr(reply.message, "id", None)))
            if not self._waiting:
                self._settled.set()

    async def _next_line(self) -> bytes:
        try:
            return await self._reader.readline()
        except (ConnectionError, ValueError):  # a line over the length limit does not come from a real client
            return b""

    def _parsed(self, line: bytes) -> Any:
        """The message in a line; None if invalid, for which the protocol has no reply."""
        from mcp.shared.message import SessionMessage
        from mcp.types import JSONRPCRequest, jsonrpc_message_adapter

        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            return None
        if isinstance(message, JSONRPCRequest):
            self._waiting.add(repr(message.id))
            self._settled.clear()
        return SessionMessage(message)
