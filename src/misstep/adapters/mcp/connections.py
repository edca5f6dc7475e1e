"""A session with an MCP server, over any transport."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from mmap import mmap
from tempfile import TemporaryFile
from typing import Any
from zlib import crc32

from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.replies import Replies
from misstep.adapters.mcp.server import require_mcp
from misstep.adapters.mcp.server_code import ServerCode
from misstep.adapters.mcp.stdio import NoMessage, Pipe
from misstep.adapters.mcp.tasks import claims
from misstep.adapters.toolset.calling import Garbled, ServerGone
from misstep.core.secrets import Redactor, secrets_in
from misstep.core.text import cut
from misstep.errors import UsageError

PATIENCE = 120.0  # seconds; a server may have to be downloaded first
MOST_PAGES = 100  # of a list of tools
LONGEST_ABOUT = 150  # characters of a server's name and version
LONGEST_INSTRUCTIONS = 10_000
SHOWN = 12  # lines of a server's error output
OF_DEATH = 40  # if it died, so that the place in its code is among them
AFTER_NONSENSE = 0.5  # seconds in which a valid reply may still follow an invalid one
AFTER_CHATTER = 5.0  # the same after output that was not meant as a message
STUMBLES = "which breaks clients that parse every line as a message"
METHOD_NOT_FOUND = -32601
LOG_LEVEL = "debug"


@dataclass
class _Request:
    """A request without a reply, and the first invalid message since it was sent, of each kind."""

    task: "asyncio.Task[Any]"
    invalid: Exception | None = None
    chatter: Exception | None = None

    def note(self, problem: Exception, is_chatter: bool) -> bool:
        """Keep a message, and return whether it is the first of its kind."""
        if is_chatter:
            before, self.chatter = self.chatter, self.chatter or problem
        else:
            before, self.invalid = self.invalid, self.invalid or problem
        return before is None


class Connection:
    """Starts or connects to a server and talks to it until it is stopped.

    Everything has to happen on one event loop. The session runs in its own task, because the SDK has to leave
    it in the task that entered it.
    """

    def __init__(self, server: McpServer, code: ServerCode | None = None) -> None:
        require_mcp()
        self.server = server
        self._printed = TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 -- see close
        self._pipe = Pipe(server, self._printed, code, self._note_invalid) if server.command else None
        self.redact = Redactor(secrets_in({**os.environ, **server.environment, **server.headers}))
        self._over = asyncio.Event()
        self._waiting = dict[int, _Request]()  # by number
        self._asked = 0
        self._session: Any = None
        self.replies = Replies(server)
        self.task_support = dict[str, str]()  # of tools that can or have to run as a task
        self._session_task: asyncio.Task[None] | None = None

    async def start(self, patience: float = PATIENCE) -> None:
        """Connect. Raises `UsageError` unless the server replies in time."""
        ready = asyncio.get_running_loop().create_future()
        self._session_task = asyncio.create_task(self._keep(ready))
        self._session_task.add_done_callback(lambda _: self._give_up(list(self._waiting)))
        try:
            async with asyncio.timeout(patience):
                self._session = await ready
        except Exception as error:
            await self.stop()
            raise self._unusable(error) from None

    async def stop(self) -> None:
        self._over.set()
        if self._session_task is not None:
            if self._session is None:  # it never got to wait for the end
                self._session_task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self._session_task

    def close(self) -> None:
        """Discard the server's error output."""
        self._printed.close()

    @property
    def capabilities(self) -> Any:
        return self._session.server_capabilities

    async def tools(self, patience: float = PATIENCE) -> list[Any]:
        """All tools of the server; none if it has no `tools/list`."""
        tools = await self.listed("tools", patience)
        support = {tool.name: tool.execution.task_support for tool in tools if tool.execution}
        self.task_support = support if self.capabilities.tasks else {}
        return tools

    async def listed(self, what: str, patience: float = PATIENCE) -> list[Any]:
        """All `tools`, `resources`, `resource_templates` or `prompts`; none if there is no such method."""
        from mcp import MCPError
        from mcp.types import PaginatedRequestParams

        found, cursor = list[Any](), None
        try:
            async with asyncio.timeout(patience):
                for _ in range(MOST_PAGES):
                    wanted = PaginatedRequestParams(cursor=cursor)
                    page = await getattr(self._session, f"list_{what}")(params=wanted)
                    found += getattr(page, what)
                    cursor = page.next_cursor
                    if not cursor:
                        break
        except Exception as error:
            if isinstance(error, MCPError) and error.code == METHOD_NOT_FOUND:
                return []
            raise self._unusable(error, f"list the {what.replace('_', ' ')} of") from None
        return found

    async def answer(self, request: Any, result: Any, with_progress: bool = False) -> Any:
        """The reply to a request, unless the session ends or only invalid messages arrive.

        With `with_progress`, the server is asked for reports of progress, which are ignored.
        """
        self._asked += 1
        number, task = self._asked, asyncio.current_task()
        assert task is not None
        waiting = self._waiting[number] = _Request(task)
        try:
            callback = _ignored if with_progress else None
            answer = await self._session.send_request(request, result, progress_callback=callback)
        except asyncio.CancelledError:
            if number in self._waiting:  # cancelled by the caller, not by `_give_up`
                raise
            task.uncancel()
            if self.ended:
                raise await self.gone() from None
            raise Garbled(self.redact(str(waiting.invalid or waiting.chatter))) from None
        finally:
            self._waiting.pop(number, None)
        if waiting.chatter:
            raise Garbled(f"{self.redact(str(waiting.chatter))}, {STUMBLES}")
        return answer

    async def input(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """Our answers to a server that requires input; what we refuse is left out."""
        from mcp.client.session import ClientRequestContext
        from mcp.types import ErrorData

        answers = dict[str, Any]()
        for key, request in wanted.items():
            context = ClientRequestContext(session=self._session, request_id=key)
            answer = await self._session.dispatch_input_request(context, request)
            if not isinstance(answer, ErrorData):
                answers[key] = answer
        return answers

    async def gone(self) -> ServerGone:
        """An exception that says how the server ended, with its last output."""
        how = await self._pipe.ending() if self._pipe else ""
        message = f"the server {self.redact(self.server.name)} {how or 'closed the connection'}"
        return ServerGone(message, "\n".join(self._last_lines(OF_DEATH)))

    @property
    def notes(self) -> list[str]:
        """A message about output that was not a protocol message, if there was any."""
        if not self._pipe or not self._pipe.chatter:
            return []
        name, chatter = self.redact(self.server.name), self.redact(self._pipe.chatter)
        return [f"the server {name} prints lines that are not MCP messages, {STUMBLES}: {chatter}"]

    @property
    def about(self) -> str:
        """What the server says about itself, and the revision of the protocol; for connected ones."""
        info = self._session.server_info
        name = cut(self.redact(f"{info.name} {info.version}"), LONGEST_ABOUT) if info else ""
        return f"{name}{', ' if name else ''}MCP {self._session.protocol_version}"

    @property
    def instructions(self) -> str:
        """What the server tells agents about itself; for connected ones."""
        return cut(self.redact(self._session.instructions or ""), LONGEST_INSTRUCTIONS)

    @property
    def ended(self) -> bool:
        return self._session_task is None or self._session_task.done()

    async def _keep(self, ready: "asyncio.Future[Any]") -> None:
        from mcp.client.session import ClientSession

        claimed = claims()
        try:
            async with (
                self._dispatcher() as dispatcher,
                ClientSession(
                    dispatcher=dispatcher,
                    sampling_callback=self.replies.sample,
                    elicitation_callback=self.replies.elicit,
                    list_roots_callback=self.replies.roots,
                    log_level=LOG_LEVEL,
                    message_handler=self._hear,
                    extensions={task: {} for task in claimed},
                    result_claims=claimed,
                ) as session,
            ):
                await _negotiate(session, self.server)
                await _ask_for_logs(session)
                ready.set_result(session)
                await self._over.wait()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error if isinstance(error, Exception) else ConnectionError("stopped"))
                ready.exception()  # mark as retrieved, in case nobody awaits it
            if not isinstance(error, Exception):
                raise

    async def _hear(self, message: Any) -> None:
        if isinstance(message, Exception):
            self._note_invalid(message)

    def _note_invalid(self, problem: Exception) -> None:
        """Stop waiting for replies, unless they arrive soon after the first such message."""
        is_chatter = isinstance(problem, NoMessage) and problem.chatter
        fresh = [number for number, request in self._waiting.items() if request.note(problem, is_chatter)]
        if fresh:
            grace = AFTER_CHATTER if is_chatter else AFTER_NONSENSE
            asyncio.get_running_loop().call_later(grace, self._give_up, fresh)

    def _give_up(self, requests: Iterable[int]) -> None:
        for number in requests:
            if request := self._waiting.pop(number, None):
                request.task.cancel()

    @asynccontextmanager
    async def _dispatcher(self) -> AsyncIterator[Any]:
        import httpx2
        from mcp.client.sse import sse_client
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

        headers = dict(self.server.headers)
        async with AsyncExitStack() as stack:
            if self._pipe is not None:
                yield await stack.enter_async_context(self._pipe.open())
                return
            if self.server.kind == "sse":
                transport: Any = sse_client(self.server.url, headers=headers)
            else:
                opened = httpx2.AsyncClient(headers=headers, timeout=PATIENCE)
                client = await stack.enter_async_context(opened)
                transport = streamable_http_client(
                    self.server.url, http_client=client, max_sse_event_size=None
                )
            yield JSONRPCDispatcher(*await stack.enter_async_context(transport))

    def _unusable(self, error: Exception, deed: str = "list the tools of") -> UsageError:
        """What went wrong, with the server's last output, and without secrets."""
        cause: BaseException = error
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        told = "no answer in time" if isinstance(cause, TimeoutError) else _without_advice(cause)
        if self._pipe and self._pipe.flooded:
            told = f"it prints lines that are not MCP messages: {self._pipe.chatter}"
        name = self.redact(self.server.name)
        if isinstance(cause, FileNotFoundError):
            deed, told = "start", "command not found"
        told = self.redact(told)
        return UsageError(f"can't {deed} MCP server {name}: {told}", *self._last_lines())

    def _last_lines(self, most: int = SHOWN) -> list[str]:
        self._printed.seek(0)
        lines = self.redact(self._printed.read()).splitlines()
        return [line.rstrip() for line in lines if line.strip()][-most:]


def _without_advice(error: BaseException) -> str:
    """An error on one line. Of a reply that breaks the protocol, the first problem stands for all."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return str(error) or type(error).__name__
    first, *others = error.errors()
    where = ".".join(map(str, first["loc"]))
    more = f" ({len(others)} more)" if others else ""
    return f"its reply breaks the protocol: {where}: {first['msg']}{more}"


# Whether a server ignored `server/discover` and answered `initialize`, by its number. Processes forked from
# this one share it, as each of them starts the servers again.
_IGNORES_DISCOVER = mmap(-1, 1 << 12)


def _number_of(server: McpServer) -> int:
    return crc32(repr((server.command, server.folder, server.url)).encode()) % len(_IGNORES_DISCOVER)


async def _negotiate(session: Any, server: McpServer) -> None:
    """Agree on the newest revision that both know: by `server/discover`, or by `initialize` before 2026."""
    from mcp import MCPError
    from mcp.types import REQUEST_TIMEOUT, UNSUPPORTED_PROTOCOL_VERSION

    number, ignored = _number_of(server), False
    if _IGNORES_DISCOVER[number]:
        with suppress(MCPError):
            await session.initialize()
            return
    for attempt in range(3):
        try:
            await session.discover()
            return
        except (MCPError, ValueError, RuntimeError) as error:  # RuntimeError: no revision that we know
            ignored = isinstance(error, MCPError) and error.code == REQUEST_TIMEOUT
            if not attempt and ignored:
                continue  # on a busy machine, it may not have started yet
            try:
                await session.initialize()
                _IGNORES_DISCOVER[number] = ignored
                return
            except MCPError as refusal:
                # It answered too late, and takes us for a newer client since.
                if attempt == 2 or refusal.code != UNSUPPORTED_PROTOCOL_VERSION:
                    raise


async def _ask_for_logs(session: Any) -> None:
    """In older revisions a client has to say so."""
    from mcp import MCPError
    from mcp.types import EmptyResult, SetLevelRequest, SetLevelRequestParams
    from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

    if session.server_capabilities.logging and session.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        with suppress(MCPError):
            request = SetLevelRequest(params=SetLevelRequestParams(level=LOG_LEVEL))
            await session.send_request(request, EmptyResult)


async def _ignored(_progress: float, _total: float | None, _message: str | None) -> None:
    """Reports of progress need no answer; a server sends them only to those who want them."""
