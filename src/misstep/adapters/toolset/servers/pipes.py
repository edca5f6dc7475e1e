"""A server's process, and the messages that go to it and come from it."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import IO, Any

from misstep.adapters.toolset.mcp_entries import McpServer
from misstep.core.transcript import storable

LONGEST = 64 << 20  # bytes of one message
GRACE = 1.0  # seconds for a server to end by itself, and again once it was told to
MOST_CHATTER = 500  # lines before the first message
HALVES = b"\\ud"  # how an escaped surrogate begins, which may lack its other half


class NoMessage(Exception):
    """A line that is no message of the protocol; `chatter` if it does not even look like one."""

    def __init__(self, why: str, line: bytes, chatter: bool) -> None:
        self.line = line[:200].decode(errors="replace").strip()
        super().__init__(f"{why}: {self.line}")
        self.chatter = chatter


class Pipe:
    """Speaks with one process over its standard input and output, one message a line."""

    def __init__(self, server: McpServer, printed: IO[str]) -> None:
        self._server = server
        self._printed = printed
        self._open = set[str]()  # numbers of questions that have no answer yet
        self._process: asyncio.subprocess.Process | None = None
        self._has_spoken = False  # sent a message, that is
        self._lines = 0  # that were none before it did
        self.chatter = ""  # the first line that did not even look like a message

    @property
    def flooded(self) -> bool:
        """Whether so much that was no message came that no message is waited for any more."""
        return self._lines > MOST_CHATTER

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Any, Any]]:
        """What the SDK reads from and writes to. The process ends with them, and all that it has started."""
        import anyio

        process = self._process = await self._start()
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

    async def _start(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *self._server.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._printed,
            env={**os.environ, **self._server.environment},
            cwd=self._server.folder or None,
            start_new_session=True,
            limit=LONGEST,
        )

    async def _listen(self, process: asyncio.subprocess.Process, incoming: Any) -> None:
        import anyio

        assert process.stdout is not None
        # Closed at the end of what the process says, which is how the session learns of it.
        async with incoming:
            while True:
                try:
                    line = await process.stdout.readline()
                except ValueError:
                    line = b""
                    await incoming.send(NoMessage(f"a message of more than {LONGEST:,} bytes", b"", False))
                    continue
                if not line:
                    return
                if line.strip():
                    try:
                        await incoming.send(self._noted(self._heard(line)))
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

    def _noted(self, heard: Any) -> Any:
        if not isinstance(heard, NoMessage):
            self._has_spoken = True
        elif not self._has_spoken:
            self._lines += 1
        if isinstance(heard, NoMessage) and heard.chatter:
            self.chatter = self.chatter or heard.line
        return heard

    def _heard(self, line: bytes) -> Any:
        from mcp.shared.message import SessionMessage
        from mcp.types import jsonrpc_message_adapter

        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return NoMessage("a line that is no JSON", line, True)
        try:
            if HALVES in line.lower():
                value = _whole(value)
            message = jsonrpc_message_adapter.validate_python(value, by_name=False)
        except (ValueError, RecursionError):
            return NoMessage("JSON that is no message", line, False)
        if not hasattr(message, "method"):
            number = str(getattr(message, "id", None))
            if number not in self._open:
                return NoMessage("an answer that nobody waits for", line, False)
            self._open.discard(number)
        return SessionMessage(message)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close its input, and use force where that is not enough; children that stay behind are killed."""
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
    transport = getattr(process, "_transport", None)  # which a surviving child would keep open
    if transport is not None:
        transport.close()
    await asyncio.sleep(0)


async def _exit(process: asyncio.subprocess.Process) -> None:
    """Wait for the process alone: `wait` also waits for whoever else has its output open."""
    while process.returncode is None:
        await asyncio.sleep(0.005)


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(OSError):
        os.killpg(process.pid, number)


def _whole(value: Any) -> Any:
    """The value without halves of surrogate pairs, which the SDK takes for broken JSON."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(key): _whole(each) for key, each in value.items()}
    return [_whole(each) for each in value] if isinstance(value, list) else value
