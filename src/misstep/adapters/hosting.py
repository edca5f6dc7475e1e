"""Sets up our own web servers, among them one on loopback in a separate thread."""

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from misstep.errors import MissingExtra, UsageError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
NAMES = tuple(f"[{name}]" if ":" in name else name for name in LOOPBACK)  # as in URLs

# For `uvicorn.Config`: no output, and no server header.
QUIET: Mapping[str, Any] = MappingProxyType(
    {
        "interface": "asgi3",
        "lifespan": "off",
        "ws": "none",
        "log_config": None,
        "access_log": False,
        "proxy_headers": False,
        "server_header": False,
        "timeout_graceful_shutdown": 1,
    }
)


def is_loopback(host: str) -> bool:
    return host in LOOPBACK


def listen(host: str, port: int, where: str = "") -> socket.socket:
    """A listening socket; port 0 takes a free one. `where` is how the user set the port."""
    if not host:  # for sockets, that means all interfaces
        hint = "expected a host name or address, such as 127.0.0.1"
        raise UsageError("can't be empty", hint, where="--host")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        message = f"can't listen on {host}:{port}: {reason}"
        raise UsageError(message, "port 0 picks a free one", where=where) from None


HOST = "127.0.0.1"
KEEP_ALIVE = 600  # seconds; longer than clients keep connections, so that they are never closed from here
SILENT = logging.Logger("silent", logging.CRITICAL + 1)


class LoopbackServer:
    """Serves an ASGI application, which can call `close` in its scope's state to drop the connection."""

    def __init__(self, app: Any, clear_up: Callable[[], Awaitable[None]]) -> None:
        try:
            from uvicorn import Config
            from uvicorn.server import ServerState
        except ImportError as error:
            raise MissingExtra("the recording proxy", "proxy") from error
        self._config = Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            interface="asgi3",
            proxy_headers=False,
            log_config=None,
            timeout_keep_alive=KEEP_ALIVE,
        )
        self._config.load()
        self._state = ServerState()
        self._clear_up = clear_up  # awaited last, on the server's loop
        self._arriving = set[asyncio.Task[Any]]()
        self._socket = listen(HOST, 0)
        self._socket.setblocking(False)
        self.port: int = self._socket.getsockname()[1]
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recording-proxy", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        """Close all connections and wait until they are gone."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._loop.add_reader(self._socket, self._accept)
        self._ready.set()
        await self._stop.wait()
        self._loop.remove_reader(self._socket)
        self._socket.close()
        await asyncio.gather(*self._arriving, return_exceptions=True)
        for connection in list(self._state.connections):
            connection.transport.abort()
        # Requests notice that their client is gone, and end.
        await asyncio.gather(*self._state.tasks, return_exceptions=True)
        await self._clear_up()

    def _accept(self) -> None:
        """Accept one connection. asyncio's own servers lose connections that arrive while they close."""
        with contextlib.suppress(BlockingIOError, ConnectionError):
            link, _ = self._socket.accept()
            with contextlib.suppress(OSError):
                # Head and body are sent separately; the body must not wait for an acknowledgement of the
                # head.
                link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            task = self._loop.create_task(self._loop.connect_accepted_socket(self._connection, link))
            self._arriving.add(task)
            task.add_done_callback(self._arriving.discard)

    def _connection(self) -> Any:
        state = dict[str, Any]()
        connection: Any = self._config.http_protocol_class(
            config=self._config, server_state=self._state, app_state=state
        )
        state["close"] = lambda: connection.transport.close()
        connection.logger = SILENT
        connection.access_log = False
        return connection
