"""A server that is started by a command: its process, and its messages over standard input and output."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import IO, Any

from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.server_code import ServerCode, environment_with
from misstep.core.text import encodable

LONGEST = 64 << 20  # bytes of one message
GRACE = 1.0  # seconds for a server to end by itself, and again after each signal
MOST_CHATTER = 500  # lines before the first message
CLOSED = "Connection closed"
HALVES = b"\\ud"  # start of an escaped surrogate, which may be a lone one


class NoMessage(Exception):
    """A line that is not a protocol message; `chatter` if it is not even JSON."""

    def __init__(self, why: str, line: bytes, chatter: bool) -> None:
        self.line = line[:200].decode(errors="replace").strip()
        super().__init__(f"{why}: {self.line}")
        self.chatter = chatter


class Pipe:
    """Talks to a process over standard input and output, one message per line; a `Dispatcher` for the SDK.

    Requests, which are most of what is sent, are written here, and replies are passed to those who wait. The
    SDK's own dispatcher takes several times as long; it handles notifications and what the server asks for.
    `note_invalid` is told what is not a message.
    """

    def __init__(
        self,
        server: McpServer,
        printed: IO[str],
        code: ServerCode | None,
        note_invalid: Callable[[NoMessage], None],
    ) -> None:
        self._server = server
        self._printed = printed
        self._code = code
        self._note_invalid = note_invalid
        self._asked = dict[str, asyncio.Future[dict[str, Any]]]()  # requests without a reply, by id
        self._sent = 0  # requests
        self._process: asyncio.subprocess.Process | None = None
        self._sdk: Any = None  # its dispatcher
        self._is_closed = False
        self._has_spoken = False  # whether it has sent a message
        self._lines = 0  # lines before that which were not messages
        self.chatter = ""  # the first line that was not JSON

    @property
    def flooded(self) -> bool:
        """Whether too many lines were not messages, so that waiting for one is pointless."""
        return self._lines > MOST_CHATTER

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Pipe"]:
        """Start the process. It and its children end with this."""
        import anyio
        from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

        variables = {**os.environ, **self._server.environment}
        process = self._process = await asyncio.create_subprocess_exec(
            *self._server.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._printed,
            env=environment_with(variables, self._server.command, self._code),
            pass_fds=(self._code.writing,) if self._code else (),
            cwd=self._server.folder or None,
            start_new_session=True,
            limit=LONGEST,
        )
        incoming, read = anyio.create_memory_object_stream[Any](100)
        self._sdk = JSONRPCDispatcher(read, _Outgoing(self._write))
        async with incoming, read, anyio.create_task_group() as group:
            group.start_soon(self._listen, process, incoming)
            try:
                yield self
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

    async def run(self, *handlers: Any, **more: Any) -> None:
        """Handle what the server sends beside replies, until its output ends."""
        await self._sdk.run(*handlers, **more)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, options: Mapping[str, Any] | None = None
    ) -> None:
        await self._sdk.notify(method, params, options)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, options: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The result of a request. Raises `MCPError`; tells the server if it is cancelled."""
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        if self._is_closed:
            raise MCPError(code=CONNECTION_CLOSED, message=CLOSED)
        options, content = options or {}, dict(params or {})
        self._sent += 1
        number = self._sent
        if "on_progress" in options:
            content["_meta"] = {**content.get("_meta", {}), "progressToken": number}
        reply: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._asked[str(number)] = reply
        message = {"jsonrpc": "2.0", "id": number, "method": method}
        await self._write(_encoded({**message, "params": content} if content else message))
        try:
            async with asyncio.timeout(options.get("timeout")):
                return await reply
        except TimeoutError:
            raise MCPError(code=REQUEST_TIMEOUT, message=f"no reply to {method!r} in time") from None
        except asyncio.CancelledError:
            if options.get("cancel_on_abandon", True):
                await self.notify(
                    "notifications/cancelled", {"requestId": number, "reason": "caller cancelled"}
                )
            raise

    async def _write(self, message: bytes) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(message + b"\n")
            await self._process.stdin.drain()
        except OSError:
            self._close()

    async def _listen(self, process: asyncio.subprocess.Process, incoming: Any) -> None:
        """Pass on all messages. The end of the process's output ends the session."""
        import anyio
        from mcp.shared.message import SessionMessage

        assert process.stdout is not None
        async with incoming:
            try:
                async for message in self._messages(process.stdout):
                    if not self._settle(message):
                        await incoming.send(SessionMessage(message))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):  # the session has ended
                pass
            finally:
                self._close()

    async def _messages(self, output: asyncio.StreamReader) -> AsyncIterator[Any]:
        """The messages; other lines are counted until there is one."""
        while not self.flooded:
            line = await next_line(output)
            if line is None:
                self._note_invalid(NoMessage(f"a message of more than {LONGEST:,} bytes", b"", False))
                continue
            if not line:
                return
            if not line.strip():
                continue
            try:
                message = self._parsed(line)
            except NoMessage as problem:
                self._lines += not self._has_spoken
                if problem.chatter:
                    self.chatter = self.chatter or problem.line
                self._note_invalid(problem)
            else:
                self._has_spoken = True
                yield message

    def _parsed(self, line: bytes) -> Any:
        from mcp.types import jsonrpc_message_adapter

        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            raise NoMessage("a line that is not JSON", line, True) from None
        try:
            if HALVES in line.lower():
                value = encodable(value)  # the SDK rejects lone surrogates as invalid JSON
            message = jsonrpc_message_adapter.validate_python(value, by_name=False)
        except (ValueError, RecursionError):
            raise NoMessage("JSON that is not a message", line, False) from None
        if "method" not in value and str(value.get("id")) not in self._asked:
            raise NoMessage("a reply to no request", line, False)
        return message

    def _settle(self, message: Any) -> bool:
        """Pass on a reply, if it is one; nobody waits for that to a cancelled request."""
        from mcp import MCPError
        from mcp.types import JSONRPCError, JSONRPCResponse

        if not isinstance(message, JSONRPCResponse | JSONRPCError):
            return False
        reply = self._asked.pop(str(message.id), None)
        if reply is None or reply.done():
            pass
        elif isinstance(message, JSONRPCResponse):
            reply.set_result(message.result)
        else:
            error = message.error
            reply.set_exception(MCPError(code=error.code, message=error.message, data=error.data))
        return True

    def _close(self) -> None:
        """Nothing will be answered any more."""
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED

        self._is_closed = True
        for reply in self._asked.values():
            if not reply.done():
                reply.set_exception(MCPError(code=CONNECTION_CLOSED, message=CLOSED))
        self._asked.clear()


async def next_line(output: asyncio.StreamReader) -> bytes | None:
    """The next line; empty at the end, and None for one that is too long, of which nothing is left then."""
    is_long = False
    while True:
        try:
            line = await output.readuntil()
        except asyncio.IncompleteReadError as end:
            line = end.partial
        except asyncio.LimitOverrunError as overrun:
            await output.readexactly(overrun.consumed)
            is_long = True
            continue
        return None if is_long and line else line


class _Outgoing:
    """The stream that the SDK's dispatcher writes to."""

    def __init__(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._write = write

    async def send(self, item: Any) -> None:
        await self._write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode())

    async def aclose(self) -> None:
        pass

    async def __aenter__(self) -> "_Outgoing":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


def _encoded(message: dict[str, Any]) -> bytes:
    """As the SDK writes it."""
    from pydantic_core import to_json

    return to_json(message, inf_nan_mode="null")


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
