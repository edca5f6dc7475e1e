"""The forge's HTTP server on loopback, with one thread per connection, and git's protocol through git.

Pushes are checked before git gets them, because git accepts branch names that mean something else.
"""

import re
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from misstep.benchmarks.forge.git import call_git, misleads
from misstep.benchmarks.forge.rest.application import HttpRequest, Response, refused
from misstep.benchmarks.forge.rest.call import RestRefusal, Visitor
from misstep.errors import UsageError

# A command of git's protocol: old object, new object, ref; the first one lists the client's capabilities.
_COMMAND = re.compile(
    rb"(?P<old>[0-9a-f]{40}) (?P<new>[0-9a-f]{40}) (?P<ref>[^\0\n]+)(?:\0(?P<abilities>.*))?\n?", re.DOTALL
)
LONGEST = 65_000  # bytes of a line
_GONE = b"0" * 40
_END = b"0000"


def objections(body: bytes) -> bytes:
    """The response to git's client if a pushed branch has a forbidden name; empty if all is well."""
    commands = [found for line in _lines(body) if (found := _COMMAND.fullmatch(line))]
    new = [found["ref"] for found in commands if found["new"] != _GONE]
    refused = [ref for ref in new if misleads(ref.decode("utf-8", "surrogateescape"))]
    if not refused:
        return b""
    report = _packed(b"unpack ok\n")
    for found in commands:
        ref = found["ref"]
        why = b"no name for a branch" if ref in refused else b"pushed together with one that is refused"
        report += _packed(b"ng %s %s\n" % (ref, why))
    report += _END
    if b"side-band-64k" not in (commands[0]["abilities"] or b""):
        return report
    # The client multiplexes several streams, and wants the report in the first one.
    starts = range(0, len(report), LONGEST)
    return b"".join(_packed(b"\x01" + report[start : start + LONGEST]) for start in starts) + _END


def _lines(body: bytes) -> Iterator[bytes]:
    """The command lines before the pushed data; stops where it is not git's protocol."""
    start = 0
    while (head := body[start : start + 4]) != _END:
        if not re.fullmatch(rb"[0-9a-fA-F]{4}", head) or (length := int(head, 16)) <= len(_END):
            return
        yield body[start + 4 : start + length]
        start += length


def _packed(data: bytes) -> bytes:
    return b"%04x%s" % (len(data) + 4, data)


WRITES = "git-receive-pack"
PLAIN = {"Content-Type": "text/plain"}
ASKS = {"WWW-Authenticate": 'Basic realm="GitHub"', **PLAIN}
SAID = ("content-type", "cache-control", "expires", "pragma")  # headers that are passed on


def speaks_git(target: str, full_name: str) -> str | None:
    """The part of the path below the repository, if the request is one of git's own."""
    path = unquote(urlsplit(target).path)
    for start in (f"/{full_name}.git/", f"/{full_name}/"):
        if path.lower().startswith(start.lower()):
            rest = path[len(start) :]
            return rest if rest in ("info/refs", "git-upload-pack", WRITES) else None
    return None


def serve_git(folder: Path, rest: str, request: HttpRequest, visitor: Visitor, private: bool) -> Response:
    """Clone and fetch for callers who may read, push for those who may write."""
    query = urlsplit(request.target).query
    writes = rest == WRITES or WRITES in query
    if (writes and not visitor.may_write) or (private and not visitor.may_see):
        if visitor.kind == "nobody":
            return Response(401, ASKS, b"Authentication required\n")
        return Response(403, PLAIN, b"Permission denied\n")
    if not query and rest == "info/refs":
        return Response(403, PLAIN, b"Please upgrade your git client.\n")
    variables = {
        "GIT_PROJECT_ROOT": str(folder),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{rest}",
        "QUERY_STRING": query,
        "REQUEST_METHOD": request.method,
        "SERVER_PROTOCOL": "HTTP/1.1",
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(request.body)),
        "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
        "REMOTE_ADDR": "127.0.0.1",
        **({"REMOTE_USER": visitor.kind} if writes else {}),
    }
    if any("\0" in value for value in variables.values()):
        return Response(400, PLAIN, b"Bad request\n")
    if rest == WRITES and variables["HTTP_CONTENT_ENCODING"]:
        return Response(415, PLAIN, b"A push has to be sent as it is\n")
    if rest == WRITES and (report := objections(request.body)):
        return Response(200, {"Content-Type": f"application/x-{WRITES}-result"}, report)
    return _answered(variables, request.body)


def _answered(variables: dict[str, str], body: bytes) -> Response:
    try:
        done = call_git("http-backend", stdin=body, extra=variables)
    except subprocess.TimeoutExpired:
        return Response(504, PLAIN, b"git took too long\n")
    if done.returncode and done.stdout.endswith(b"\r\n\r\n"):  # it started to answer and failed
        return Response(400, PLAIN, b"This is not git's protocol\n")
    head, _, data = done.stdout.partition(b"\r\n\r\n")
    lines = (line.partition(": ") for line in head.decode("latin-1").split("\r\n"))
    headers = {name.lower(): value for name, _, value in lines}
    status = int(headers.get("status", "200").split()[0]) if head else 500
    return Response(status, {name: headers[name] for name in SAID if name in headers}, data)


HOST = "127.0.0.1"
LARGEST = 16 * 1024 * 1024  # bytes of a body
MOST_IGNORED = 1 << 30  # bytes that are read and discarded of one that is too large
LINGER = 5.0  # seconds for a refused client to keep sending or close
IDLE = 600.0  # seconds that a connection may be idle; models are slow

Answering = Callable[[HttpRequest], Response]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "misstep-forge"
    sys_version = ""
    disable_nagle_algorithm = True
    timeout = IDLE
    server: "ForgeServer"

    def _handle(self) -> None:
        try:
            body = self._body()
        except OverflowError:
            self._give_up(413, "The request is larger than this forge takes.")
            return
        except ValueError:
            self._give_up(400, "The length of the request can't be read.")
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            response = self.server.answering(HttpRequest(self.command, self.path, headers, body))
        except Exception as error:
            self.server.errors.append(error)
            response = refused(RestRefusal(500, "Server Error"))
        self._write(response)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _handle

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """The response to an invalid request or an unsupported method."""
        del explain
        self._give_up(405 if code == 501 else code, message or HTTPStatus(code).phrase)

    def _give_up(self, status: int, message: str) -> None:
        """Refuse and close the connection: the unread body can't be told from the next request."""
        self.close_connection = True
        self._write(refused(RestRefusal(status, message)))
        with suppress(OSError):  # most clients read the response only when all has been sent
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
            raise OverflowError
        return self.rfile.read(length)

    def _chunks(self) -> list[bytes]:
        chunks, total = list[bytes](), 0
        while size := int(self.rfile.readline(100).split(b";")[0], 16):
            total += size
            if total > LARGEST:
                raise OverflowError
            chunks.append(self.rfile.read(size))
            self.rfile.readline(100)
        self.rfile.readline(100)
        return chunks

    def log_message(self, format: str, *args: Any) -> None:
        """No request log."""


class ForgeServer(ThreadingHTTPServer):
    """Serves until it is stopped. `errors` are exceptions in our code that clients saw as 500."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int) -> None:
        try:
            super().__init__((HOST, port), Handler)
        except OSError as error:
            message = f"can't listen on {HOST}:{port}: {error.strerror}"
            raise UsageError(message, "port 0 picks a free one", where="--port") from None
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
        """Stop; open connections are closed."""
        self.answering = _closed
        self.shutdown()
        self._thread.join()
        self.server_close()
        for connection in list(self._connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                connection.close()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""


def _closed(_: HttpRequest) -> Response:
    return Response(503, {})
