"""Tools of MCP servers, which are asked for their list and for nothing else."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from tempfile import TemporaryFile
from typing import IO, Any

from misstep.adapters.mcp.server import require_mcp
from misstep.adapters.toolset.found import Found
from misstep.adapters.toolset.mcp_entries import McpServer
from misstep.adapters.toolset.waiting import settled
from misstep.core.secrets import Redactor, secrets_in
from misstep.errors import UsageError

PATIENCE = 120.0  # seconds; a server may have to be downloaded first
MOST_PAGES = 100  # of a list of tools
SHOWN = 12  # lines of what a server has to say about its troubles


def tools_of_servers(servers: Sequence[McpServer], patience: float = PATIENCE) -> list[Found]:
    """The tools of all servers in order; a `UsageError` for one that does not tell of them in time."""
    require_mcp()
    return [found for server in servers for found in settled(_asked(server, patience))]


async def _asked(server: McpServer, patience: float) -> list[Found]:
    import anyio

    with TemporaryFile("w+", encoding="utf-8", errors="replace") as printed:
        try:
            with anyio.fail_after(patience):
                tools = await _listed(server, printed)
        except Exception as error:
            raise _unusable(server, error, printed) from None
    return [Found(f"server {server.name}", tool.name, tool.description, tool.input_schema) for tool in tools]


async def _listed(server: McpServer, printed: IO[str]) -> list[Any]:
    from mcp import Client

    tools, cursor = list[Any](), None
    async with _transport(server, printed) as transport, Client(transport) as client:
        for _ in range(MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
    return tools


@asynccontextmanager
async def _transport(server: McpServer, printed: IO[str]) -> AsyncIterator[Any]:
    """A way to talk to the server; what it prints beside the protocol goes into a file."""
    import httpx2
    from mcp import StdioServerParameters
    from mcp.client.sse import sse_client
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client

    if server.command:
        program, *arguments = server.command
        complete = {**os.environ, **server.environment}
        given = StdioServerParameters(
            command=program, args=arguments, env=complete, cwd=server.folder or None
        )
        yield stdio_client(given, errlog=printed)
    elif server.kind == "sse":
        yield sse_client(server.url, headers=dict(server.headers))
    else:
        async with httpx2.AsyncClient(headers=dict(server.headers), timeout=PATIENCE) as client:
            yield streamable_http_client(server.url, http_client=client)


def _unusable(server: McpServer, error: Exception, printed: IO[str]) -> UsageError:
    """What went wrong, and the last that the server had to say about it, without anybody's keys."""
    cause: BaseException = error
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    redact = Redactor(secrets_in({**os.environ, **server.environment, **server.headers}))
    told = "no answer in time" if isinstance(cause, TimeoutError) else str(cause) or type(cause).__name__
    printed.seek(0)
    lines = [line.rstrip() for line in redact(printed.read()).splitlines() if line.strip()]
    return UsageError(
        f"the server {redact(server.name)} does not tell of its tools: {redact(told)}", *lines[-SHOWN:]
    )
