"""The proxy as an ASGI application: attributes a request to a case, forwards it and records the reply."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import msgspec

from misstep.adapters.proxy.cases import LIMIT_REACHED, Attribution, OpenCase, traces_of
from misstep.adapters.proxy.protocols import ReplyFormat, endpoint_of, with_usage, without_usage
from misstep.adapters.proxy.turn import ModelTurn, StreamReader, decode, events_in
from misstep.adapters.proxy.upstream import Asking, Headers, Replying, Unreachable, Upstream, UpstreamBroken
from misstep.core.agent import StepsExhausted

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Client:
    """The client of a request. `begun`: the response has started; `gone`: the client left before its end."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._close = scope["state"]["close"]
        self._receive = receive
        self._send = send
        self._answered = False
        self.begun = False
        self.gone = False

    async def body(self) -> bytes:
        """The complete request body; sets `gone` if the client leaves before its end."""
        parts = list[bytes]()
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self.gone = True
                return b""
            parts.append(message.get("body", b""))
            if not message.get("more_body"):
                return b"".join(parts)

    async def serve(self, work: Coroutine[Any, Any, None]) -> None:
        """Do the work as long as the client waits for it."""
        working = asyncio.create_task(work)
        tasks = working, asyncio.create_task(self._leave())
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if self._answered:
                await asyncio.wait((working,))  # only cleanup is left
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        if not working.cancelled():
            working.result()

    async def _leave(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.gone = not self._answered

    async def begin(self, status: int, headers: Headers) -> None:
        self.begun = True
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def give(self, chunk: bytes) -> None:
        if chunk:
            await self._send({"type": "http.response.body", "body": chunk, "more_body": True})

    async def end(self) -> None:
        self._answered = True
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def refuse(self, status: int, why: str) -> None:
        """An error in OpenAI's format, which Anthropic's clients understand as well."""
        body = failure(why)
        length = str(len(body)).encode()
        await self.begin(status, [(b"content-type", b"application/json"), (b"content-length", length)])
        await self.give(body)
        await self.end()

    async def drop(self) -> None:
        """Close the connection after what has been sent."""
        self._answered = True
        self._close()
        await asyncio.sleep(0)  # otherwise the server would report the missing response as a bug


def failure(why: str) -> bytes:
    error = {"message": why, "type": "invalid_request_error", "param": None, "code": "misstep"}
    return msgspec.json.encode({"type": "error", "error": error})


UNKNOWN_OPTION = (400, 422)


@dataclass
class Exchange:
    """A request of an open case to a known endpoint; `request` is its decoded body.

    The client gets what it would get without the proxy. Only the end of a reply is held back until the reply
    is recorded, because the client may act on it at once. A reply that breaks off, or whose client has left,
    counts no turn and no calls, since a client that retries gets another one. Its tokens count if they are
    known.
    """

    asking: Asking
    request: Any
    link: OpenCase
    endpoint: ReplyFormat
    attribution: Attribution
    client: Client

    async def run(self, upstream: Upstream) -> None:
        if self.endpoint.speaks and (why := self.link.refusal()):
            await self.client.refuse(400, why)
            return
        if not await self._asked_for_usage(upstream):
            async with upstream.ask(self.asking, self.asking.body) as reply:
                await self._answer(reply)

    async def _asked_for_usage(self, upstream: Upstream) -> bool:
        """Request a stream's token counts that the client did not ask for. Returns whether that worked."""
        body = with_usage(self.request) if self.endpoint.asks_usage and upstream.tells_usage else None
        if body is None:
            return False
        async with upstream.ask(self.asking, body) as reply:
            if reply.status in UNKNOWN_OPTION and reply.readable and b"stream_options" in await reply.body():
                upstream.tells_usage = False
                return False
            await self._answer(reply, hides_usage=True)
        return True

    async def _answer(self, reply: Replying, hides_usage: bool = False) -> None:
        if not reply.succeeded or not reply.readable:
            await pass_on(reply, self.client)
        elif self._streams(reply):
            await self._stream(reply, self.endpoint.stream(), hides_usage)
        else:
            await self._give_at_once(reply)

    async def _give_at_once(self, reply: Replying) -> None:
        parts = list[bytes]()
        try:
            async for chunk in reply.chunks():
                parts.append(chunk)
        except UpstreamBroken:
            await self.client.begin(reply.status, reply.headers)
            await self.client.give(b"".join(parts))
            raise
        body = b"".join(parts)
        said = decode(body)
        self.attribution.learn(self.link, "", said)
        try:
            self._record(self.endpoint.read(said))
        except StepsExhausted:
            await self.client.refuse(400, LIMIT_REACHED)
            return
        await self.client.begin(reply.status, reply.headers)
        await self.client.give(body)
        await self.client.end()

    async def _stream(self, reply: Replying, reader: StreamReader, hides_usage: bool) -> None:
        lengths = (b"content-length",) if hides_usage else ()
        await self.client.begin(reply.status, [each for each in reply.headers if each[0] not in lengths])
        try:
            await self._give_events(reply, reader, hides_usage)
        except StepsExhausted:
            await self.client.give(b"event: error\ndata: " + failure(LIMIT_REACHED) + b"\n\n")
        await self.client.end()

    async def _give_events(self, reply: Replying, reader: StreamReader, hides_usage: bool) -> None:
        held, recorded = list[bytes](), False
        try:
            async for event in events_in(reply.chunks()):
                reader.feed(event)
                held.append(without_usage(event) if hides_usage else event.raw)
                if reader.ended and not recorded:
                    recorded = True
                    self._record(reader.turn())
                if recorded or not reader.holds:
                    await self.client.give(b"".join(held))
                    held.clear()
        except (UpstreamBroken, asyncio.CancelledError):
            # What was held back is not sent, so that nobody acts on it unrecorded.
            if not recorded:
                self._record(reader.turn(), heard=False)
            raise
        if not recorded:
            self._record(reader.turn())
        await self.client.give(b"".join(held))

    def _streams(self, reply: Replying) -> bool:
        """Whether the reply is a stream; servers without a content type are assumed to follow the request."""
        asked = isinstance(self.request, dict) and self.request.get("stream") is True
        return "event-stream" in reply.content_type or (asked and "json" not in reply.content_type)

    def _record(self, turn: ModelTurn | None, heard: bool = True) -> None:
        if turn is not None:
            self.attribution.learn(self.link, "", turn.reply)
            self.link.record(turn, self.request, self.asking.redactor, heard and not self.client.gone)


async def pass_on(reply: Replying, client: Client) -> None:
    """Forward the reply as it arrives, without reading it."""
    await client.begin(reply.status, reply.headers)
    async for chunk in reply.chunks():
        await client.give(chunk)
    await client.end()


class Relay:
    """An ASGI application. `key` is the secret part of its address."""

    def __init__(self, upstream: Upstream, attribution: Attribution) -> None:
        self.key = secrets.token_urlsafe(16)
        self.unattributed = 0  # model replies that could not be attributed to an open case
        self._upstream = upstream
        self._attribution = attribution

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = Client(scope, receive, send)
        path: str = scope["raw_path"].decode("ascii")
        key, _, rest = path.removeprefix("/").partition("/")
        version, _, place = rest.partition("/")
        link = self._attribution.at(key)
        if version != "v1" or not (link or secrets.compare_digest(key, self.key)):
            await client.refuse(404, "misstep: no such route.")
            return
        query: str = scope["query_string"].decode("ascii")
        target = f"{place}?{query}" if query else place
        asking = Asking(scope["method"], target, scope["headers"], await client.body())
        if not client.gone:
            await client.serve(self._pass_on(asking, link, client))

    async def _pass_on(self, asking: Asking, link: OpenCase | None, client: Client) -> None:
        try:
            await self._exchange(asking, link, client)
        except Unreachable as error:
            await client.refuse(502, f"misstep: {error}")
        except UpstreamBroken:
            await client.drop()
        except Exception as error:  # our own error: this case must report it, and other cases continue
            if client.begun:
                await client.drop()
            else:
                await client.refuse(500, f"misstep: the recording proxy failed: {type(error).__name__}")

    async def _exchange(self, asking: Asking, link: OpenCase | None, client: Client) -> None:
        request = decode(asking.body)
        if link is None and (link := self._attribution.find(traces_of(asking.path, request))):
            self._attribution.learn(link, asking.path, request)
        endpoint = endpoint_of(asking.method, asking.path)
        if endpoint is not None and link is not None:
            exchange = Exchange(asking, request, link, endpoint, self._attribution, client)
            await exchange.run(self._upstream)
            return
        async with self._upstream.ask(asking, asking.body) as reply:
            self.unattributed += endpoint is not None and endpoint.speaks and reply.succeeded
            await pass_on(reply, client)
