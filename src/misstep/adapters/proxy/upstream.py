"""The HTTP client of the proxy for the model's server."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec

from misstep.core.secrets import SHORTEST, Redactor
from misstep.errors import MissingExtra, UsageError

Headers = list[tuple[bytes, bytes]]

# Headers for one connection only, or about a transfer format that is chosen anew.
HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer upgrade "
    b"transfer-encoding".split()
)
OURS_TO_SET = frozenset((b"host", b"content-length", b"accept-encoding", b"expect"))
KEY_HEADERS = (b"authorization", b"x-api-key")
READABLE = ("gzip", "deflate")
KEEP_ALIVE = 4.0  # seconds; shorter than servers keep connections, so that none is used while being closed


class Unreachable(Exception):
    """There is no such server, or it does not listen."""


class UpstreamBroken(Exception):
    """The connection ended without a reply, or within it."""


class Asking(msgspec.Struct, frozen=True):
    """A client's request; `target` is what follows the address of the proxy."""

    method: str
    target: str
    headers: Headers
    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def redactor(self) -> Redactor:
        """Masks the keys that the request is sent with."""
        given = [value.decode("latin-1") for name, value in self.headers if name in KEY_HEADERS]
        keys = {value.removeprefix("Bearer").strip() for value in given}
        return Redactor(sorted([key for key in keys if len(key) >= SHORTEST], key=len, reverse=True))


class Replying:
    """The start of a reply; the rest comes in chunks."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self.status = response.status_code
        self.succeeded = bool(response.is_success)
        self.content_type = str(response.headers.get("content-type", ""))
        encoding = response.headers.get("content-encoding", "").strip().lower()
        self._encoded = encoding in READABLE
        undone = (b"content-encoding", b"content-length") if self._encoded else ()
        self.headers = [each for each in end_to_end(response.headers.raw) if each[0] not in undone]
        # No encoding is requested. If there is one, it is passed on, and decoded if possible.
        self.readable = self._encoded or encoding in ("", "identity")
        self._body: bytes | None = None

    async def body(self) -> bytes:
        """The complete body, which `chunks` can still return afterwards."""
        self._body = b"".join([chunk async for chunk in self.chunks()])
        return self._body

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives. Raises `UpstreamBroken` if it breaks off."""
        import httpx

        if self._body is not None:
            yield self._body
            return
        body = self._response.aiter_bytes() if self._encoded else self._response.aiter_raw()
        try:
            async for chunk in body:
                yield chunk
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise UpstreamBroken from error


class Upstream:
    """Sends requests to one server for many clients, each with its own key."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            hint = "expected e.g. https://api.openai.com/v1"
            raise UsageError(f"'{address}' is not the address of a server", hint)
        self._address = address.rstrip("/")
        self._host = parts.hostname
        self._scheme = parts.scheme
        self.tells_usage = True  # until the server turns out not to support token counts in streams

    def connect(self) -> None:
        try:
            import httpx
        except ImportError as error:
            raise MissingExtra("the recording proxy", "proxy") from error
        route = None if proxy_bypass(self._host) else getproxies().get(self._scheme)
        limits = httpx.Limits(
            max_connections=None, max_keepalive_connections=None, keepalive_expiry=KEEP_ALIVE
        )
        # A client would keep cookies, follow redirects and write logs; a transport only forwards.
        self._transport = httpx.AsyncHTTPTransport(verify=self._scheme == "https", limits=limits, proxy=route)

    async def close(self) -> None:
        await self._transport.aclose()

    @contextlib.asynccontextmanager
    async def ask(self, asking: Asking, body: bytes) -> AsyncIterator[Replying]:
        """The reply to a request with this body, without a timeout."""
        import httpx

        kept = [(name, value) for name, value in end_to_end(asking.headers) if name not in OURS_TO_SET]
        request = httpx.Request(
            asking.method,
            f"{self._address}/{asking.target}",
            headers=[*kept, (b"accept-encoding", b"identity")],
            content=body or None,
        )
        try:
            response = await self._transport.handle_async_request(request)
        except (httpx.ConnectError, httpx.ProxyError, httpx.UnsupportedProtocol) as error:
            raise Unreachable(f"{self._host} can't be reached: {error}") from error
        except httpx.TransportError as error:
            raise UpstreamBroken from error
        try:
            yield Replying(response)
        finally:
            await response.aclose()


def end_to_end(headers: Headers) -> Headers:
    """The headers without those for one connection only."""
    lower = [(name.lower(), value) for name, value in headers]
    listed = b",".join(value for name, value in lower if name == b"connection")
    named = {each.strip().lower() for each in listed.split(b",")}
    return [(name, value) for name, value in lower if name not in HOP_BY_HOP and name not in named]
