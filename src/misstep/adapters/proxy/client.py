"""The client of one request, behind the three things that ASGI gives."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import msgspec

from misstep.adapters.proxy.upstream import Headers

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Client:
    """`begun` tells whether the answer has, `gone` whether the client has left before its end."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._close = scope["state"]["close"]
        self._receive = receive
        self._send = send
        self._answered = False
        self.begun = False
        self.gone = False

    async def body(self) -> bytes:
        """The whole body of the request; the client may be gone before its end."""
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
        """Do the work for as long as the client waits for it."""
        working = asyncio.create_task(work)
        tasks = working, asyncio.create_task(self._leave())
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if self._answered:
                await asyncio.wait((working,))  # it has only to clear up
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
        """An error in the form of OpenAI's, which Anthropic's clients understand as well."""
        body = failure(why)
        length = str(len(body)).encode()
        await self.begin(status, [(b"content-type", b"application/json"), (b"content-length", length)])
        await self.give(body)
        await self.end()

    async def drop(self) -> None:
        """Break the connection off, after what has been given."""
        self._answered = True
        self._close()
        await asyncio.sleep(0)  # until then the server would take the silence for a bug


def failure(why: str) -> bytes:
    error = {"message": why, "type": "invalid_request_error", "param": None, "code": "misstep"}
    return msgspec.json.encode({"type": "error", "error": error})
