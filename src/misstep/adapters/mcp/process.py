"""A client as a process that can't outlive its case."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from misstep.adapters.process_tree import kill_process_tree

KEPT = 1 << 18  # bytes of what a client prints; only the end of it is of interest
GRACE = 5.0  # seconds for the system to bury what is dead


class Output(asyncio.SubprocessProtocol):
    """What a process has printed, as far as it is kept, and whether it has ended."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[None] = loop.create_future()
        self.code: int | None = None
        self._kept = {1: bytearray(), 2: bytearray()}

    @property
    def stdout(self) -> str:
        return self._kept[1].decode("utf-8", "replace")

    @property
    def stderr(self) -> str:
        return self._kept[2].decode("utf-8", "replace")

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        kept = self._kept[fd]
        kept += data
        if len(kept) > 2 * KEPT:
            del kept[:-KEPT]

    def process_exited(self) -> None:
        self.exited.set_result(None)

    def connection_lost(self, _error: Exception | None) -> None:
        self.closed.set_result(None)


@asynccontextmanager
async def running(
    words: Sequence[str], environment: Mapping[str, str], told: str | None
) -> AsyncIterator[Output]:
    """Run a program without a shell, in a session of its own, with `told` as its standard input.

    Whatever is left of that session at the end of the block is killed at once, also when cancelled.
    """
    starting = asyncio.create_task(_start(words, environment, told))
    try:
        transport, output = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # A process that is just coming into the world can only be ended once it has a number.
        transport, output = await starting
        await _end(transport, output)
        raise
    try:
        yield output
    finally:
        await _end(transport, output)


async def _start(
    words: Sequence[str], environment: Mapping[str, str], told: str | None
) -> tuple[asyncio.SubprocessTransport, Output]:
    transport, output = await asyncio.get_running_loop().subprocess_exec(
        Output,
        *words,
        stdin=asyncio.subprocess.DEVNULL if told is None else asyncio.subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    stdin = transport.get_pipe_transport(0)
    if told is not None and isinstance(stdin, asyncio.WriteTransport):
        stdin.write(told.encode("utf-8", "replace"))
        stdin.write_eof()
    return transport, output


async def _end(transport: asyncio.SubprocessTransport, output: Output) -> None:
    """Kill what is left, and read to the end what it has printed."""
    kill_process_tree(transport.get_pid())
    try:
        await asyncio.wait([output.closed], timeout=GRACE)
    finally:
        output.code = transport.get_returncode()
        transport.close()
