"""Serves pages on loopback, or to other machines for those who have the token.

Requests from other sites are refused, and a client that sends nothing, or sends slowly, can't keep a
connection.
"""

import asyncio
import hashlib
import secrets
import socket
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

import h11
import msgspec
import uvicorn
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from misstep.adapters.hosting import LOOPBACK, NAMES, QUIET, is_loopback, listen

SHUT = (
    "this page needs the token: open the address that misstep serve printed in this browser, "
    "or restart misstep serve for a new one"
)


class Access:
    """An ASGI application for browsers with the cookie; a request with the token gets it.

    The token is removed from the address at once, so that nobody sees it there, and is not the value of the
    cookie. The name of the cookie is derived from the token, so that servers on several ports of one host
    don't overwrite each other's.
    """

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._token = app, token
        self._pass = secrets.token_urlsafe(32)
        self._name = f"misstep_{hashlib.sha256(token.encode()).hexdigest()[:8]}"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        app = self._app if scope["type"] != "http" else self._admit(scope)
        await app(scope, receive, send)

    def _admit(self, scope: Any) -> Any:
        headers, query = Headers(scope=scope), QueryParams(scope["query_string"])
        if "token" in query and scope["method"] in ("GET", "HEAD"):
            return self._swap(scope["path"], headers, query)
        shown = cookie_parser(headers.get("cookie", "")).get(self._name, "")
        return self._app if _same(shown, self._pass) else PlainTextResponse(SHUT, 403)

    def _swap(self, path: str, headers: Headers, query: QueryParams) -> Response:
        if not _same(query["token"], self._token):
            return PlainTextResponse(SHUT, 403)
        rest = urlencode([(name, value) for name, value in query.multi_items() if name != "token"])
        answer = RedirectResponse(f"/{path.lstrip('/')}{'?' if rest else ''}{rest}", 303)
        secure = headers.get("x-forwarded-proto", "") == "https"
        answer.set_cookie(self._name, self._pass, httponly=True, samesite="strict", secure=secure)
        return answer


def _same(given: str, wanted: str) -> bool:
    return secrets.compare_digest(given.encode(errors="replace"), wanted.encode())


HEADERS = {
    # Only our own files, and no frames: the pages show text from tools and agents.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",  # with no-referrer, browsers would not send the origin of our forms
    "x-content-type-options": "nosniff",
}


class OriginGuard:
    """An ASGI application protected against requests from other sites.

    The host of a request has to be one of our `names`, which prevents DNS rebinding; they are those of
    loopback, or None if access is checked elsewhere. Requests that send data have to come from one of our
    pages. Every response has headers that allow nothing else.
    """

    def __init__(self, app: Any, names: Collection[str] | None = NAMES) -> None:
        self._app, self._names = app, names

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":  # pages need nothing else
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        complaint = self._complaint(scope["method"], Headers(scope=scope))
        app = PlainTextResponse(complaint, 403) if complaint else self._app
        await app(scope, receive, send_guarded)

    def _complaint(self, method: str, headers: Any) -> str:
        host = headers.get("host", "")
        if self._names is not None and not {host, host.rpartition(":")[0]} & {*self._names}:
            return "this page is for this machine only: use 127.0.0.1 or localhost"
        if method in ("GET", "HEAD"):
            return ""
        elsewhere = headers.get("sec-fetch-site", "same-origin") != "same-origin"
        # The scheme is https if there is a proxy before us.
        if elsewhere or headers.get("origin", f"http://{host}") not in (f"http://{host}", f"https://{host}"):
            return "this was sent by another site"
        return ""


class LimitedProtocol(H11Protocol):  # type: ignore[misc]  # it has no types
    """HTTP where each request has to arrive within `seconds`, on no more than `most` connections at once."""

    seconds = 20.0
    most = 200

    _alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.close()
        else:
            self._await_request()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_incomplete():
            self._await_request()
        elif self._alarm:
            self._alarm.cancel()
            self._alarm = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._alarm:
            self._alarm.cancel()
        super().connection_lost(exc)

    def _await_request(self) -> None:
        """A started request keeps its deadline, so that sending slowly gains no time."""
        self._alarm = self._alarm or self.loop.call_later(self.seconds, self._hang_up)

    def _is_incomplete(self) -> bool:
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _hang_up(self) -> None:
        self._alarm = None
        if self._is_incomplete() and not self.transport.is_closing():
            self.transport.abort()


HOST = LOOPBACK[0]
EVERYWHERE = ("0.0.0.0", "::")


class Address(msgspec.Struct, frozen=True):
    """The address of the pages: for people, and for a browser on this machine."""

    shown: str
    here: str


def serve(
    make: Callable[[Callable[[], bool]], Any],
    host: str,
    port: int,
    ready: Callable[[Address], object],
    open_to_all: bool = False,
) -> None:
    """Serve until Ctrl-C; `ready` gets the address when browsers can connect. Port 0 takes a free one.

    `make` returns the application, and gets a function that says whether the server is stopping.
    """
    token = "" if open_to_all and is_loopback(host) else secrets.token_urlsafe(24)
    with listen(host, port, "--port") as listener:
        server = uvicorn.Server(uvicorn.Config(None, http=LimitedProtocol, **QUIET))
        app = make(lambda: bool(server.should_exit))
        guarded = Access(app, token) if token else app
        server.config.app = OriginGuard(guarded, NAMES if is_loopback(host) else None)
        with suppress(KeyboardInterrupt):  # may come as soon as the address is printed
            ready(_address(host, listener.getsockname()[1], token))
            server.run(sockets=[listener])


def _address(host: str, port: int, token: str) -> Address:
    """A server on all interfaces has the name of the machine, and loopback for a local browser."""
    query = f"?token={token}" if token else ""
    names = (socket.gethostname(), HOST) if host in EVERYWHERE else (host, host)
    in_url = (f"[{name}]" if ":" in name else name for name in names)
    shown, here = (f"http://{name}:{port}/{query}" for name in in_url)
    return Address(shown, here)
