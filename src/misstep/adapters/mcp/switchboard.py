"""Where links call in: one listener on loopback, with a secret for every case."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress

from misstep.adapters.mcp.lines import LONGEST_LINE, serve_lines
from misstep.adapters.mcp.once import Once
from misstep.adapters.mcp.server import ToolServer

PATIENCE = 10.0  # seconds to show a secret


class Switchboard:
    """Connects links with the tools of their case; it starts to listen when there is a case."""

    def __init__(self) -> None:
        self._listener = Once(self._start)
        self._callers = set[asyncio.Task[None]]()
        self._lines = dict[str, _Line]()

    @asynccontextmanager
    async def serving(self, server: ToolServer) -> AsyncIterator[str]:
        """Serve the tools to links that show the secret; gives host, port and secret as one text."""
        host, port = (await self._listener.get()).sockets[0].getsockname()
        secret = secrets.token_urlsafe(24)
        line = self._lines[secret] = _Line(server)
        try:
            yield f"{host} {port} {secret}"
        finally:
            del self._lines[secret]
            await _cancelled(line.callers)

    async def close(self) -> None:
        """Hang up. The next case starts anew, on another loop if need be."""
        if listener := await self._listener.take_back():
            listener.close()
            await _cancelled(self._callers)
            await listener.wait_closed()

    async def _start(self) -> asyncio.Server:
        return await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=LONGEST_LINE, backlog=1024)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Talk in a task that is ours to cancel; asyncio would report that as an error of its own tasks."""
        task = asyncio.create_task(self._answer(reader, writer))
        self._callers.add(task)
        task.add_done_callback(self._callers.discard)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, ValueError):
            try:
                async with asyncio.timeout(PATIENCE):
                    secret = (await reader.readline()).decode("ascii").strip()
                if line := self._lines.get(secret):
                    await line.talk(reader, writer)
            finally:
                writer.transport.abort()
                await writer.wait_closed()


class _Line:
    """The tools of one case, and who is using them."""

    def __init__(self, server: ToolServer) -> None:
        self._server = server
        self.callers = set[asyncio.Task[None]]()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            self.callers.add(task)

        async def write(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        await serve_lines(self._server, reader, write)


async def _cancelled(tasks: Collection["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(list(tasks))
