"""One session with a server, from its start to its end."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from tempfile import TemporaryFile
from typing import Any

from misstep.adapters.mcp.server import require_mcp
from misstep.adapters.toolset.calling.refusals import ArgumentsRefused, Garbled, ServerGone
from misstep.adapters.toolset.mcp_entries import McpServer
from misstep.adapters.toolset.servers.pipes import NoMessage, Pipe
from misstep.core.secrets import Redactor, secrets_in
from misstep.core.words import in_words
from misstep.errors import UsageError

PATIENCE = 120.0  # seconds; a server may have to be downloaded first
MOST_PAGES = 100  # of a list of tools
SHOWN = 12  # lines of what a server has to say about its troubles
AFTER_NONSENSE = 0.5  # seconds in which a real answer may still follow what was none
AFTER_CHATTER = 5.0  # the same after lines that were not meant as one
STUMBLES = "which clients that take every line for a message stumble over"


class Connection:
    """Starts a server or connects to one, and speaks with it until it is stopped.

    All of it has to happen on one event loop. The session lives in a task of its own, because the SDK wants
    to leave it where it was entered.
    """

    def __init__(self, server: McpServer) -> None:
        require_mcp()
        self.server = server
        self._printed = TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 -- see close
        self._pipe = Pipe(server, self._printed) if server.command else None
        self.redact = Redactor(secrets_in({**os.environ, **server.environment, **server.headers}))
        self._over = asyncio.Event()
        self._nonsense = asyncio.Event()
        self._heard: Exception | None = None
        self._client: Any = None
        self._keeper: asyncio.Task[None] | None = None

    async def start(self, patience: float = PATIENCE) -> None:
        """Raises a `UsageError` unless the server speaks with us in time."""
        ready = asyncio.get_running_loop().create_future()
        self._keeper = asyncio.create_task(self._keep(ready))
        try:
            async with asyncio.timeout(patience):
                self._client = await ready
        except Exception as error:
            await self.stop()
            raise self._unusable(error) from None

    async def stop(self) -> None:
        self._over.set()
        if self._keeper is not None:
            if self._client is None:  # it never came so far as to wait for the end
                self._keeper.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self._keeper

    def close(self) -> None:
        """Forget what the server has printed."""
        self._printed.close()

    async def tools(self, patience: float = PATIENCE) -> list[Any]:
        """All tools of the server as the SDK has them."""
        tools, cursor = list[Any](), None
        try:
            async with asyncio.timeout(patience):
                for _ in range(MOST_PAGES):
                    page = await self._client.list_tools(cursor=cursor)
                    tools += page.tools
                    cursor = page.next_cursor
                    if not cursor:
                        break
        except Exception as error:
            raise self._unusable(error) from None
        return tools

    async def ask(self, name: str, arguments: dict[str, Any]) -> Any:
        """The result of a call, checked for its form alone. Raises `Garbled`, `ServerGone` and `MCPError`.

        `ArgumentsRefused` is for what can't be sent: half of a surrogate pair is no text in any protocol, and
        the SDK does not write what is nested too deeply.
        """
        from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult

        try:
            json.dumps(arguments, ensure_ascii=False).encode()
            request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=arguments))
            request.model_dump_json()
        except (ValueError, RecursionError) as error:
            raise ArgumentsRefused(f"can't be sent to a server: {in_words(error)}") from error
        return await self._answer(self._client.session.send_request(request, CallToolResult))

    async def gone(self) -> ServerGone:
        """That the server has ended, with the last that it printed."""
        how = await self._pipe.ending() if self._pipe else ""
        last = "\n".join(self._last_lines())
        return ServerGone(
            f"the server {self.redact(self.server.name)} {how or 'closed the connection'}", last
        )

    @property
    def notes(self) -> list[str]:
        """What the server has printed among its messages so far."""
        chatter = self._pipe.chatter if self._pipe else ""
        name = self.redact(self.server.name)
        return (
            [f"the server {name} prints lines that are no messages, {STUMBLES}: {self.redact(chatter)}"]
            if chatter
            else []
        )

    @property
    def ended(self) -> bool:
        return self._keeper is None or self._keeper.done()

    async def _answer(self, question: Coroutine[Any, Any, Any]) -> Any:
        """What comes of a question, unless the session ends or nonsense comes instead."""
        assert self._keeper is not None
        self._forget()
        asked = asyncio.create_task(question)
        alarm = asyncio.create_task(self._nonsense.wait())
        try:
            await asyncio.wait({asked, alarm, self._keeper}, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                chatter = isinstance(self._heard, NoMessage) and self._heard.chatter
                grace = AFTER_CHATTER if chatter else AFTER_NONSENSE
                await asyncio.wait({asked, self._keeper}, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return self._clear_answer(asked)
            if self.ended:
                raise await self.gone()
            raise Garbled(self.redact(str(self._heard)))
        finally:
            for task in (asked, alarm):
                task.cancel()
            await asyncio.gather(asked, alarm, return_exceptions=True)

    def _forget(self) -> None:
        """Forget what was heard before a question."""
        self._nonsense.clear()
        self._heard = None

    def _clear_answer(self, asked: "asyncio.Task[Any]") -> Any:
        """The answer, unless there was chatter before it."""
        answer = asked.result()
        if isinstance(self._heard, NoMessage) and self._heard.chatter:
            raise Garbled(f"{self.redact(str(self._heard))}, {STUMBLES}")
        return answer

    async def _keep(self, ready: "asyncio.Future[Any]") -> None:
        from mcp import Client

        try:
            async with (
                self._transport() as transport,
                Client(transport, message_handler=self._hear, cache=None) as client,
            ):
                ready.set_result(client)
                await self._over.wait()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error if isinstance(error, Exception) else ConnectionError("stopped"))
                ready.exception()  # nobody may be left to ask
            if not isinstance(error, Exception):
                raise

    async def _hear(self, message: Any) -> None:
        if isinstance(message, Exception):
            self._heard = message
            self._nonsense.set()

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        """A way to talk to the server."""
        import httpx2
        from mcp.client.sse import sse_client
        from mcp.client.streamable_http import streamable_http_client

        headers = dict(self.server.headers)
        if self._pipe is not None:
            yield self._pipe.streams()
        elif self.server.kind == "sse":
            yield sse_client(self.server.url, headers=headers)
        else:
            async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as client:
                yield streamable_http_client(self.server.url, http_client=client, max_sse_event_size=None)

    def _unusable(self, error: Exception) -> UsageError:
        """What went wrong, and the last that the server had to say about it, without anybody's keys."""
        cause: BaseException = error
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        told = "no answer in time" if isinstance(cause, TimeoutError) else str(cause) or type(cause).__name__
        if self._pipe and self._pipe.flooded:
            told = f"it prints lines that are no messages: {self._pipe.chatter}"
        name = self.redact(self.server.name)
        message = f"the server {name} does not tell of its tools: {self.redact(told)}"
        return UsageError(message, *self._last_lines())

    def _last_lines(self) -> list[str]:
        self._printed.seek(0)
        lines = self.redact(self._printed.read()).splitlines()
        return [line.rstrip() for line in lines if line.strip()][-SHOWN:]
