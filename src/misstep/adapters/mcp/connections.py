"""A session with an MCP server, and the process of a server that is started by a command."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.server import require_mcp
from misstep.adapters.toolset.calling import ArgumentsRefused, Garbled, ServerGone
from misstep.core.secrets import Redactor, secrets_in
from misstep.core.text import encodable, in_words
from misstep.errors import UsageError

LONGEST = 64 << 20  # bytes of one message
GRACE = 1.0  # seconds for a server to end by itself, and again after each signal
MOST_CHATTER = 500  # lines before the first message
INSIDE = str(Path(__file__).parent / "inside")  # the folder with `sitecustomize.py`
HALVES = b"\\ud"  # start of an escaped surrogate, which may be a lone one


class NoMessage(Exception):
    """A line that is not a protocol message; `chatter` if it is not even JSON."""

    def __init__(self, why: str, line: bytes, chatter: bool) -> None:
        self.line = line[:200].decode(errors="replace").strip()
        super().__init__(f"{why}: {self.line}")
        self.chatter = chatter


class Pipe:
    """Talks to a process over standard input and output, one message per line."""

    def __init__(self, server: McpServer, printed: IO[str]) -> None:
        self._server = server
        self._printed = printed
        self._open = set[str]()  # ids of requests without a reply
        self._process: asyncio.subprocess.Process | None = None
        self._has_spoken = False  # whether it has sent a message
        self._lines = 0  # lines before that which were not messages
        self.chatter = ""  # the first line that was not JSON

    @property
    def flooded(self) -> bool:
        """Whether too many lines were not messages, so that waiting for one is pointless."""
        return self._lines > MOST_CHATTER

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Any, Any]]:
        """The streams for the SDK. The process and its children end with them."""
        import anyio

        variables = {**os.environ, **self._server.environment}
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, (INSIDE, variables.get("PYTHONPATH"))))
        process = self._process = await asyncio.create_subprocess_exec(
            *self._server.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._printed,
            env=variables,
            cwd=self._server.folder or None,
            start_new_session=True,
            limit=LONGEST,
        )
        incoming, read = anyio.create_memory_object_stream[Any](100)
        write, outgoing = anyio.create_memory_object_stream[Any](0)
        async with incoming, read, write, outgoing, anyio.create_task_group() as group:
            group.start_soon(self._listen, process, incoming)
            group.start_soon(self._speak, process, outgoing, incoming)
            try:
                yield read, write
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process)
                group.cancel_scope.cancel()

    async def ending(self) -> str:
        """How the process ended, in words; empty if it has not."""
        if self._process is None:
            return ""
        with suppress(TimeoutError):
            await asyncio.wait_for(_exit(self._process), GRACE)
        code = self._process.returncode
        if code is None:
            return ""
        return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"

    async def _listen(self, process: asyncio.subprocess.Process, incoming: Any) -> None:
        import anyio

        assert process.stdout is not None
        # Closed at the end of the process's output, which ends the session.
        async with incoming:
            while True:
                try:
                    line = await process.stdout.readline()
                except ValueError:
                    await incoming.send(NoMessage(f"a message of more than {LONGEST:,} bytes", b"", False))
                    continue
                if not line:
                    return
                if line.strip():
                    try:
                        await incoming.send(self._heard(line))
                    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                        return
                    if self.flooded:
                        return

    async def _speak(self, process: asyncio.subprocess.Process, outgoing: Any, incoming: Any) -> None:
        assert process.stdin is not None
        async with outgoing:
            async for each in outgoing:
                message = each.message
                if hasattr(message, "method") and hasattr(message, "id"):
                    self._open.add(str(message.id))
                text = message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    process.stdin.write(text.encode() + b"\n")
                    await process.stdin.drain()
                except OSError:
                    await incoming.aclose()
                    return

    def _heard(self, line: bytes) -> Any:
        """The message in a line, or a `NoMessage`, which is counted."""
        heard = self._parsed(line)
        if not isinstance(heard, NoMessage):
            self._has_spoken = True
            return heard
        self._lines += not self._has_spoken
        if heard.chatter:
            self.chatter = self.chatter or heard.line
        return heard

    def _parsed(self, line: bytes) -> Any:
        from mcp.shared.message import SessionMessage
        from mcp.types import jsonrpc_message_adapter

        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return NoMessage("a line that is not JSON", line, True)
        try:
            if HALVES in line.lower():
                value = encodable(value)  # the SDK rejects lone surrogates as invalid JSON
            message = jsonrpc_message_adapter.validate_python(value, by_name=False)
        except (ValueError, RecursionError):
            return NoMessage("JSON that is not a message", line, False)
        if not hasattr(message, "method"):
            number = str(getattr(message, "id", None))
            if number not in self._open:
                return NoMessage("a reply to no request", line, False)
            self._open.discard(number)
        return SessionMessage(message)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close its input, then send signals if that is not enough; remaining children are killed."""
    assert process.stdin is not None
    with suppress(OSError, RuntimeError):
        process.stdin.close()
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            _signal(process, number)
        with suppress(TimeoutError):
            await asyncio.wait_for(_exit(process), GRACE)
            break
    _signal(process, signal.SIGKILL)
    transport = getattr(process, "_transport", None)  # a surviving child would keep it open
    if transport is not None:
        transport.close()
    await asyncio.sleep(0)


async def _exit(process: asyncio.subprocess.Process) -> None:
    """Wait for the process only: `wait` also waits for others that have its output open."""
    while process.returncode is None:
        await asyncio.sleep(0.005)


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(OSError):
        os.killpg(process.pid, number)


PATIENCE = 120.0  # seconds; a server may have to be downloaded first
MOST_PAGES = 100  # of a list of tools
SHOWN = 12  # lines of a server's error output
AFTER_NONSENSE = 0.5  # seconds in which a valid reply may still follow an invalid one
AFTER_CHATTER = 5.0  # the same after output that was not meant as a message
STUMBLES = "which breaks clients that parse every line as a message"


class Connection:
    """Starts or connects to a server and talks to it until it is stopped.

    Everything has to happen on one event loop. The session runs in its own task, because the SDK has to leave
    it in the task that entered it.
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
        """Connect. Raises `UsageError` unless the server replies in time."""
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
            if self._client is None:  # it never got to wait for the end
                self._keeper.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self._keeper

    def close(self) -> None:
        """Discard the server's error output."""
        self._printed.close()

    async def tools(self, patience: float = PATIENCE) -> list[Any]:
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
        """The result of a call, checked for its format only. Raises `Garbled`, `ServerGone`, `MCPError`."""
        from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult

        try:  # lone surrogates are not valid in any protocol, and the SDK cannot write deeply nested values
            json.dumps(arguments, ensure_ascii=False).encode()
            request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=arguments))
            request.model_dump_json()
        except (ValueError, RecursionError) as error:
            raise ArgumentsRefused(f"can't be sent to a server: {in_words(error)}") from error
        return await self._answer(self._client.session.send_request(request, CallToolResult))

    async def gone(self) -> ServerGone:
        """An exception that says how the server ended, with its last output."""
        how = await self._pipe.ending() if self._pipe else ""
        message = f"the server {self.redact(self.server.name)} {how or 'closed the connection'}"
        return ServerGone(message, "\n".join(self._last_lines()))

    @property
    def notes(self) -> list[str]:
        """A message about output that was not a protocol message, if there was any."""
        if not self._pipe or not self._pipe.chatter:
            return []
        name, chatter = self.redact(self.server.name), self.redact(self._pipe.chatter)
        return [f"the server {name} prints lines that are not MCP messages, {STUMBLES}: {chatter}"]

    @property
    def ended(self) -> bool:
        return self._keeper is None or self._keeper.done()

    async def _answer(self, question: Coroutine[Any, Any, Any]) -> Any:
        """The reply to a request, unless the session ends or only invalid messages arrive."""
        assert self._keeper is not None
        self._nonsense.clear()  # from before this request
        self._heard = None
        asked = asyncio.create_task(question)
        alarm = asyncio.create_task(self._nonsense.wait())
        try:
            await asyncio.wait({asked, alarm, self._keeper}, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                grace = AFTER_CHATTER if self._has_heard_chatter else AFTER_NONSENSE
                await asyncio.wait({asked, self._keeper}, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                answer = asked.result()
                if self._has_heard_chatter:
                    raise Garbled(f"{self.redact(str(self._heard))}, {STUMBLES}")
                return answer
            if self.ended:
                raise await self.gone()
            raise Garbled(self.redact(str(self._heard)))
        finally:
            for task in (asked, alarm):
                task.cancel()
            await asyncio.gather(asked, alarm, return_exceptions=True)

    @property
    def _has_heard_chatter(self) -> bool:
        return isinstance(self._heard, NoMessage) and self._heard.chatter

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
                ready.exception()  # mark as retrieved, in case nobody awaits it
            if not isinstance(error, Exception):
                raise

    async def _hear(self, message: Any) -> None:
        if isinstance(message, Exception):
            self._heard = message
            self._nonsense.set()

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
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
        """What went wrong, with the server's last output, and without secrets."""
        cause: BaseException = error
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        told = "no answer in time" if isinstance(cause, TimeoutError) else str(cause) or type(cause).__name__
        if self._pipe and self._pipe.flooded:
            told = f"it prints lines that are not MCP messages: {self._pipe.chatter}"
        name, is_missing = self.redact(self.server.name), isinstance(cause, FileNotFoundError)
        deed = "start" if is_missing else "list the tools of"
        told = "command not found" if is_missing else self.redact(told)
        return UsageError(f"can't {deed} MCP server {name}: {told}", *self._last_lines())

    def _last_lines(self) -> list[str]:
        self._printed.seek(0)
        lines = self.redact(self._printed.read()).splitlines()
        return [line.rstrip() for line in lines if line.strip()][-SHOWN:]
