"""One HTTP server on our own event loop, with a path of its own for every case."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from misstep.adapters.hosting import LOOPBACK, NAMES, QUIET, is_loopback, listen
from misstep.adapters.mcp.once import Once
from misstep.adapters.mcp.server import ToolServer, require_mcp

PATH = "/mcp"


class Web:
    """Serves MCP over streamable HTTP; it starts to listen when it has something to serve.

    No path leads to another's tools, and a page in a browser that was talked into knocking here is refused.
    """

    def __init__(self, host: str = LOOPBACK[0], port: int = 0) -> None:
        self._host = host
        self._port = port
        self._server = Once(self._start)
        self._managers = dict[str, Any]()

    @asynccontextmanager
    async def serving(self, server: ToolServer, path: str) -> AsyncIterator[str]:
        """Serve the tools under this path; gives the URL."""
        await self._server.get()
        manager, listening = self._manager(server), asyncio.Event()
        living = asyncio.create_task(self._live(manager, path, listening))
        try:
            await listening.wait()
            yield f"http://{self._address}{path}"
        finally:
            living.cancel()
            await asyncio.wait([living])

    async def close(self) -> None:
        """Hang up. The next case starts anew, on another loop if need be."""
        if server := await self._server.take_back():
            await server.shutdown(sockets=[self._listener])

    async def _start(self) -> Any:
        """What `uvicorn.Server.serve` does, less its signal handlers and the polling for the end."""
        require_mcp()
        import uvicorn

        self._listener = listen(self._host, self._port)
        config = uvicorn.Config(self._answer, **QUIET)
        config.load()
        server = uvicorn.Server(config)
        server.lifespan = config.lifespan_class(config)
        await server.startup(sockets=[self._listener])
        return server

    @property
    def _address(self) -> str:
        host, port = self._listener.getsockname()[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def _manager(self, server: ToolServer) -> Any:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        security = _security(self._host)
        return StreamableHTTPSessionManager(
            server.sdk, json_response=True, stateless=True, security_settings=security
        )

    async def _live(self, manager: Any, path: str, listening: asyncio.Event) -> None:
        """A task of its own: the SDK's task group would wrap whatever is raised beside it."""
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
        elif scope["method"] != "POST":  # we tell nothing unasked, and keep nothing to delete
            await _refuse(send, 405)
        else:
            await manager.handle_request(scope, receive, send)


def _security(host: str) -> Any:
    """On loopback only names of loopback will do; elsewhere we can't know our names."""
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
