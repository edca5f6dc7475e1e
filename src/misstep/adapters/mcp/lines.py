"""MCP as lines of JSON over a pair of byte streams: standard input and output, or a socket."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Any

from misstep.adapters.mcp.server import ToolServer

LONGEST_LINE = 4 << 20  # what the SDK takes over HTTP
LAST_WORDS = 2.0  # seconds for what is left to answer when the client has gone

Write = Callable[[bytes], Awaitable[None]]


async def serve_lines(server: ToolServer, reader: asyncio.StreamReader, write: Write) -> None:
    """Serve one client until it leaves; what it asked for before is answered first."""
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
        pass  # nobody is there to read our answers


class _Talk:
    """The lines of one connection, and the requests among them that have no answer yet."""

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
        except (ConnectionError, ValueError):  # a line of any length is no client of ours
            return b""

    def _parsed(self, line: bytes) -> Any:
        """The message in a line; None for what is none, which the protocol has no answer to."""
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
