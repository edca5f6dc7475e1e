"""LangChain's tools for requests, and a server on loopback that answers them."""

import os
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from langchain_community.tools.requests.tool import (
    RequestsDeleteTool,
    RequestsGetTool,
    RequestsPatchTool,
    RequestsPostTool,
    RequestsPutTool,
)
from langchain_community.utilities.requests import TextRequestsWrapper

PORT = 8765  # the same in every process, so that a call can be repeated; another where it is taken
CLASSES = (RequestsGetTool, RequestsPostTool, RequestsPatchTool, RequestsPutTool, RequestsDeleteTool)


class Answer(BaseHTTPRequestHandler):
    """Says hello to everybody."""

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b'{"hello": "world"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def log_message(self, *given: Any) -> None:
        pass


def _listener() -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", PORT))
    except OSError:
        return socket.create_server(("127.0.0.1", 0))


class Loopback:
    """The server: its socket is there from the start, a thread for it once in every process that asks."""

    def __init__(self) -> None:
        self._listener = _listener()
        self._process = 0
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def wake(self) -> None:
        if self._process == os.getpid():
            return
        self._process = os.getpid()
        server = ThreadingHTTPServer(self._listener.getsockname(), Answer, bind_and_activate=False)
        server.socket.close()
        server.socket = self._listener
        threading.Thread(target=server.serve_forever, daemon=True).start()


LOOPBACK = Loopback()


class Requests(TextRequestsWrapper):
    """LangChain's own, with somebody at the other end."""

    @property
    def requests(self) -> Any:
        LOOPBACK.wake()
        return super().requests


def _made(kind: Any) -> Any:
    tool = kind(requests_wrapper=Requests(), allow_dangerous_requests=True)
    tool.description += f"\nThere is a server at {LOOPBACK.address}/ to try it with."
    return tool


tools = [_made(kind) for kind in CLASSES]
tools[1].invoke("{}")  # the first call imports much of LangChain: once here, or in every process that calls
