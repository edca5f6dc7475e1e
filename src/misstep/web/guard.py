"""Keeps pages from whoever is not meant to use them."""

from collections.abc import Collection
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

from misstep.adapters.hosting import NAMES

HEADERS = {
    # Only files of our own, in nobody's frame: what pages show was written by tools and agents.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",  # with no-referrer, browsers would not say that our forms are ours
    "x-content-type-options": "nosniff",
}


class Guard:
    """An ASGI application behind a wall.

    Whoever asks has to call us by one of our `names`, so that no other site's name can be made to lead here;
    they are those of loopback, or None where something else sees to it who may come in. What is sent has to
    come from a page of our own. Every answer carries headers that allow nothing else.
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
            return "this page is for this machine only: call it by 127.0.0.1 or localhost"
        if method in ("GET", "HEAD"):
            return ""
        elsewhere = headers.get("sec-fetch-site", "same-origin") != "same-origin"
        if elsewhere or _site_of(headers.get("origin", f"http://{host}")) != host:
            return "this was sent by another site"
        return ""


def _site_of(origin: str) -> str:
    """The host with its port, called by http, or by https where something stands before us."""
    scheme, _, host = origin.partition("://")
    return host if scheme in ("http", "https") else ""
