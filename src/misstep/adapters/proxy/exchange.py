"""One request passed on and its reply passed back, with a look at both."""

import asyncio
from typing import Any

from misstep.adapters.proxy.attribution import Attribution
from misstep.adapters.proxy.client import Client, failure
from misstep.adapters.proxy.links import LIMIT_REACHED, Link
from misstep.adapters.proxy.reading import Endpoint
from misstep.adapters.proxy.reading.chat import with_usage, without_usage
from misstep.adapters.proxy.reading.events import StreamReader, events_in
from misstep.adapters.proxy.reading.turn import Turn, decode
from misstep.adapters.proxy.upstream import Asking, Broken, Replying, Upstream
from misstep.core.agent import StepsExhausted

UNKNOWN_OPTION = (400, 422)


class Exchange:
    """A request of an open case to an endpoint that is worth reading; `request` is what its body means.

    The client gets what it would get without us. Only the end of a reply waits until the reply is recorded,
    since the client may act on it at once. A reply that breaks off, or whose client has left, counts no turn
    and no calls: a client that tries again gets another one. Its tokens count if they are known.
    """

    def __init__(
        self, asking: Asking, request: Any, link: Link, endpoint: Endpoint, attribution: Attribution
    ) -> None:
        self._asking = asking
        self._request = request
        self._link = link
        self._endpoint = endpoint
        self._attribution = attribution

    async def run(self, upstream: Upstream, client: Client) -> None:
        self._client = client
        self._redact = upstream.redactor(self._asking)
        if self._endpoint.speaks and (why := self._link.refusal()):
            await client.refuse(400, why)
            return
        if not await self._asked_for_usage(upstream):
            async with upstream.ask(self._asking, self._asking.body) as reply:
                await self._answer(reply)

    async def _asked_for_usage(self, upstream: Upstream) -> bool:
        """Whether the reply was had with the tokens of a stream that its client did not ask for."""
        body = with_usage(self._request) if self._endpoint.asks_usage and upstream.tells_usage else None
        if body is None:
            return False
        async with upstream.ask(self._asking, body) as reply:
            if reply.status in UNKNOWN_OPTION and reply.readable and b"stream_options" in await reply.body():
                upstream.tells_usage = False
                return False
            await self._answer(reply, hides_usage=True)
        return True

    async def _answer(self, reply: Replying, hides_usage: bool = False) -> None:
        if not reply.succeeded or not reply.readable:
            await pass_on(reply, self._client)
        elif self._streams(reply):
            await self._stream(reply, self._endpoint.stream(), hides_usage)
        else:
            await self._give_at_once(reply)

    async def _give_at_once(self, reply: Replying) -> None:
        parts = list[bytes]()
        try:
            async for chunk in reply.chunks():
                parts.append(chunk)
        except Broken:
            await self._client.begin(reply.status, reply.headers)
            await self._client.give(b"".join(parts))
            raise
        body = b"".join(parts)
        said = decode(body)
        self._attribution.learn(self._link, "", said)
        try:
            self._record(self._endpoint.read(said))
        except StepsExhausted:
            await self._client.refuse(400, LIMIT_REACHED)
            return
        await self._client.begin(reply.status, reply.headers)
        await self._client.give(body)
        await self._client.end()

    async def _stream(self, reply: Replying, reader: StreamReader, hides_usage: bool) -> None:
        lengths = (b"content-length",) if hides_usage else ()
        await self._client.begin(reply.status, [each for each in reply.headers if each[0] not in lengths])
        try:
            await self._give_events(reply, reader, hides_usage)
        except StepsExhausted:
            await self._client.give(b"event: error\ndata: " + failure(LIMIT_REACHED) + b"\n\n")
        await self._client.end()

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
                    await self._client.give(b"".join(held))
                    held.clear()
        except (Broken, asyncio.CancelledError):
            # What is held back stays with us, lest it be acted on unrecorded.
            if not recorded:
                self._record(reader.turn(), heard=False)
            raise
        if not recorded:
            self._record(reader.turn())
        await self._client.give(b"".join(held))

    def _streams(self, reply: Replying) -> bool:
        """Servers that don't say what they send are taken to do as they were told."""
        asked = isinstance(self._request, dict) and self._request.get("stream") is True
        return "event-stream" in reply.content_type or (asked and "json" not in reply.content_type)

    def _record(self, turn: Turn | None, heard: bool = True) -> None:
        if turn is not None:
            self._attribution.learn(self._link, "", turn.reply)
            self._link.record(turn, self._request, self._redact, heard and not self._client.gone)


async def pass_on(reply: Replying, client: Client) -> None:
    """The reply as it comes in, unread."""
    await client.begin(reply.status, reply.headers)
    async for chunk in reply.chunks():
        await client.give(chunk)
    await client.end()
