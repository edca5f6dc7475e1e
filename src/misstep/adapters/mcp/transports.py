"""Serves the tools of cases over MCP: to clients that we start, and to one that the user starts."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Generic, TypeVar

from misstep.adapters.hosting import LOOPBACK, NAMES, QUIET, is_loopback, listen
from misstep.adapters.mcp.server import LONGEST_LINE, McpToolServer, require_mcp, serve_lines
from misstep.adapters.threads import in_thread
from misstep.core.agent import Toolbox

T = TypeVar("T")


class Once(Generic[T]):
    """The result of `start`, which runs once for all callers, and to the end even if they are cancelled."""

    def __init__(self, start: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._start = start
        self._starting: asyncio.Task[T] | None = None

    async def get(self) -> T:
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        try:
            return await asyncio.shield(self._starting)
        except Exception:
            self._starting = None
            raise

    async def take_back(self) -> T | None:
        """What was started, if anything, for the caller to stop; the next `get` starts again."""
        starting, self._starting = self._starting, None
        return None if starting is None else await starting


PATIENCE = 10.0  # seconds to send a secret


class Switchboard:
    """Connects links with the tools of their case; it listens from the first case on."""

    def __init__(self) -> None:
        self._listener = Once(self._start)
        self._callers = set[asyncio.Task[None]]()
        # The tools of each open case, and the tasks using them, by secret.
        self._cases = dict[str, tuple[McpToolServer, set[asyncio.Task[None]]]]()

    @asynccontextmanager
    async def serving(self, server: McpToolServer) -> AsyncIterator[str]:
        """Serve the tools to links that send the secret; yields "host port secret"."""
        host, port = (await self._listener.get()).sockets[0].getsockname()
        secret = secrets.token_urlsafe(24)
        callers = set[asyncio.Task[None]]()
        self._cases[secret] = server, callers
        try:
            yield f"{host} {port} {secret}"
        finally:
            del self._cases[secret]
            await _cancelled(callers)

    async def close(self) -> None:
        """Close all connections. The next case starts again, possibly on another loop."""
        if listener := await self._listener.take_back():
            listener.close()
            await _cancelled(self._callers)
            await listener.wait_closed()

    async def _start(self) -> asyncio.Server:
        return await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=LONGEST_LINE, backlog=1024)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle a connection in our own task, because asyncio reports cancelling its tasks as an error."""
        task = asyncio.create_task(self._answer(reader, writer))
        self._callers.add(task)
        task.add_done_callback(self._callers.discard)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def write(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        with suppress(OSError, ValueError):
            try:
                async with asyncio.timeout(PATIENCE):
                    secret = (await reader.readline()).decode("ascii").strip()
                case, task = self._cases.get(secret), asyncio.current_task()
                if case and task:
                    server, callers = case
                    callers.add(task)
                    await serve_lines(server, reader, write)
            finally:
                writer.transport.abort()
                await writer.wait_closed()


async def _cancelled(tasks: Collection["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(list(tasks))


PATH = "/mcp"


class Web:
    """Serves MCP over streamable HTTP; it listens from the first case on.

    Each path leads only to its own tools, and requests from web pages in a browser are refused.
    """

    def __init__(self, host: str = LOOPBACK[0], port: int = 0) -> None:
        self._host = host
        self._port = port
        self._server = Once(self._start)
        self._managers = dict[str, Any]()

    @asynccontextmanager
    async def serving(self, server: McpToolServer, path: str) -> AsyncIterator[str]:
        """Serve the tools under this path; yields the URL."""
        await self._server.get()
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        manager = StreamableHTTPSessionManager(
            server.sdk, json_response=True, stateless=True, security_settings=_security(self._host)
        )
        listening = asyncio.Event()
        living = asyncio.create_task(self._live(manager, path, listening))
        try:
            await listening.wait()
            host, port = self._listener.getsockname()[:2]
            yield f"http://[{host}]:{port}{path}" if ":" in host else f"http://{host}:{port}{path}"
        finally:
            living.cancel()
            await asyncio.wait([living])

    async def close(self) -> None:
        """Stop serving. The next case starts again, possibly on another loop."""
        if server := await self._server.take_back():
            await server.shutdown(sockets=[self._listener])

    async def _start(self) -> Any:
        """What `uvicorn.Server.serve` does, without signal handlers and polling."""
        require_mcp()
        import uvicorn

        self._listener = listen(self._host, self._port)
        config = uvicorn.Config(self._answer, **QUIET)
        config.load()
        server = uvicorn.Server(config)
        server.lifespan = config.lifespan_class(config)
        await server.startup(sockets=[self._listener])
        return server

    async def _live(self, manager: Any, path: str, listening: asyncio.Event) -> None:
        """A separate task, because the SDK's task group would wrap exceptions raised beside it."""
        async with manager.run():
            self._managers[path] = manager
            listening.set()
            try:
                await asyncio.Event().wait()
            finally:
                del self._managers[path]

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        manager = self._managers.get(scope["path"].rstrip("/"))
        if manager is None:
            await _refuse(send, 404)
        elif scope["method"] != "POST":  # there are no server-initiated messages, and no session to delete
            await _refuse(send, 405)
        else:
            await manager.handle_request(scope, receive, send)


def _security(host: str) -> Any:
    """On loopback only loopback host names are accepted; elsewhere our names are unknown."""
    from mcp.server.transport_security import TransportSecuritySettings

    return TransportSecuritySettings(
        enable_dns_rebinding_protection=is_loopback(host),
        allowed_hosts=[f"{name}:*" for name in NAMES],
        allowed_origins=[f"http://{name}:*" for name in NAMES],
    )


async def _refuse(send: Any, status: int) -> None:
    headers = [(b"allow", b"POST")] if status == 405 else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


CHUNK = 1 << 16


async def serve_stdio(toolbox: Toolbox, source: int = 0, sink: int = 1) -> None:
    """Serve on two file descriptors until the client closes its end; calls are recorded even if cancelled."""
    reader = asyncio.StreamReader(limit=LONGEST_LINE)

    async def pump_in() -> None:
        """Read in threads, which works for files, pipes and terminals and does not block shutdown."""
        with suppress(OSError):
            while chunk := await in_thread(partial(os.read, source, CHUNK)):
                reader.feed_data(chunk)
        reader.feed_eof()

    def write_all(data: bytes) -> None:
        while data:
            data = data[os.write(sink, data) :]

    async def write(data: bytes) -> None:
        await in_thread(partial(write_all, data))

    pump = asyncio.create_task(pump_in())
    try:
        await serve_lines(McpToolServer(toolbox), reader, write)
    finally:
        pump.cancel()
        await asyncio.wait([pump])


async def serve_http(
    toolbox: Toolbox, host: str = LOOPBACK[0], port: int = 0, ready: Callable[[str], object] = str
) -> None:
    """Serve over streamable HTTP until cancelled; `ready` is called with the URL once it is available."""
    path = PATH if is_loopback(host) else secret_path()  # on other hosts anybody can connect
    web = Web(host, port)
    try:
        async with web.serving(McpToolServer(toolbox), path) as url:
            ready(url)
            await asyncio.Event().wait()
    finally:
        await web.close()


def secret_path() -> str:
    return f"/{secrets.token_urlsafe(24)}{PATH}"
