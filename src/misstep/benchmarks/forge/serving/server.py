"""A server on loopback, with a thread for each connection."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from misstep.benchmarks.forge.rest.answers import Refusal
from misstep.benchmarks.forge.rest.application import Request, Response, refused
from misstep.errors import UsageError

HOST = "127.0.0.1"
LARGEST = 16 * 1024 * 1024  # bytes of a body
MOST_IGNORED = 1 << 30  # bytes that are read of one that is too large
LINGER = 5.0  # seconds in which a client that was refused has to go on sending, or go away
IDLE = 600.0  # seconds that a connection may say nothing; models take their time

Answering = Callable[[Request], Response]


class TooLarge(Exception):
    """A body that nobody wants to hold."""


class Handler(BaseHTTPRequestHandler):
    """Reads a request, has it answered, writes what comes of it."""

    protocol_version = "HTTP/1.1"
    server_version = "misstep-forge"
    sys_version = ""
    disable_nagle_algorithm = True
    timeout = IDLE
    server: "Server"

    def _handle(self) -> None:
        try:
            body = self._body()
        except TooLarge:
            self._give_up(413, "The request is larger than this forge takes.")
            return
        except ValueError:
            self._give_up(400, "The length of the request can't be read.")
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            response = self.server.answering(Request(self.command, self.path, headers, body))
        except Exception as error:
            self.server.errors.append(error)
            response = refused(Refusal(500, "Server Error"))
        self._write(response)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _handle

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What can't be read as a request, or has a method that nothing here knows."""
        del explain
        self._give_up(405 if code == 501 else code, message or HTTPStatus(code).phrase)

    def _give_up(self, status: int, message: str) -> None:
        """What else the client sends can't be told from the body that was not read."""
        self.close_connection = True
        self._write(refused(Refusal(status, message)))
        self._hear_out()

    def _hear_out(self) -> None:
        """Let the client send what it is sending: few look for an answer before, and none gets it after."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(LINGER)
            ignored = 0
            while ignored < MOST_IGNORED and (part := self.connection.recv(1 << 16)):
                ignored += len(part)

    def _write(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        empty = response.status in (204, 304)
        if not empty:
            self.send_header("Content-Length", str(len(response.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if not empty and self.command != "HEAD":
            self.wfile.write(response.body)

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return b"".join(self._chunks())
        length = int(self.headers.get("Content-Length") or 0)
        if length < 0:
            raise ValueError(length)
        if length > LARGEST:
            raise TooLarge
        return self.rfile.read(length)

    def _chunks(self) -> list[bytes]:
        chunks, total = list[bytes](), 0
        while size := int(self.rfile.readline(100).split(b";")[0], 16):
            total += size
            if total > LARGEST:
                raise TooLarge
            chunks.append(self.rfile.read(size))
            self.rfile.readline(100)
        self.rfile.readline(100)
        return chunks

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads along."""


class Server(ThreadingHTTPServer):
    """Answers until it is stopped. `errors` are exceptions of ours that clients saw as 500."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int) -> None:
        try:
            super().__init__((HOST, port), Handler)
        except OSError as error:
            raise UsageError(
                f"can't listen on {HOST}:{port}: {error.strerror}",
                "port 0 takes any that is free",
                where="--port",
            ) from None
        self.answering: Answering = _closed
        self.errors = list[Exception]()
        self._connections = set[socket.socket]()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), name="forge", daemon=True)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_address[1]}"

    def start(self, answering: Answering) -> None:
        self.answering = answering
        self._thread.start()

    def stop(self) -> None:
        """Connections that are still open are cut."""
        self.answering = _closed
        self.shutdown()
        self._thread.join()
        self.server_close()
        for connection in list(self._connections):
            _cut(connection)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients go away when they like."""


def _closed(_: Request) -> Response:
    return Response(503, {})


def _cut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        connection.close()
