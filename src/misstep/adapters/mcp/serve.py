"""Serves the tools of one case to an MCP client that the user starts."""

import asyncio
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from misstep.adapters.hosting import LOOPBACK, is_loopback
from misstep.adapters.mcp.server import LONGEST_LINE, McpToolServer, serve_lines
from misstep.adapters.mcp.transports import PATH, Web
from misstep.adapters.threads import in_thread
from misstep.core.agent import Toolbox

CHUNK = 1 << 16


async def serve_stdio(toolbox: Toolbox, source: int = 0, sink: int = 1) -> None:
    """Serve on two file descriptors until the client closes its end.

    All calls are recorded in the toolbox, even if this is cancelled.
    """
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    pump = asyncio.create_task(_pump(source, reader))
    try:
        await serve_lines(McpToolServer(toolbox), reader, partial(_write, sink))
    finally:
        pump.cancel()
        await asyncio.wait([pump])


async def serve_http(
    toolbox: Toolbox,
    host: str = LOOPBACK[0],
    port: int = 0,
    ready: Callable[[str], object] = str,
) -> None:
    """Serve over streamable HTTP until cancelled; `ready` is called with the URL once it is available.

    On other hosts than loopback the URL contains a secret, since anybody can connect.
    """
    path = PATH if is_loopback(host) else secret_path()
    web = Web(host, port)
    try:
        async with web.serving(McpToolServer(toolbox), path) as url:
            ready(url)
            await asyncio.Event().wait()
    finally:
        await web.close()


def secret_path() -> str:
    return f"/{secrets.token_urlsafe(24)}{PATH}"


async def _pump(source: int, reader: asyncio.StreamReader) -> None:
    """Read in threads, which works for files, pipes and terminals and does not block shutdown."""
    with suppress(OSError):
        while chunk := await in_thread(partial(os.read, source, CHUNK)):
            reader.feed_data(chunk)
    reader.feed_eof()


async def _write(sink: int, data: bytes) -> None:
    await in_thread(partial(_write_all, sink, data))


def _write_all(sink: int, data: bytes) -> None:
    while data:
        data = data[os.write(sink, data) :]
