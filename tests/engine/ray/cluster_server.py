"""A model on loopback that counts who asks it at a time, whatever process they are in."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from tests.scripted.wire import Recorded, Reply, read_request, write_reply


class Crowd:
    """Requests as they came: the process each was from, and how many there were at that moment."""

    def __init__(self) -> None:
        self.here = 0
        self.seen = list[tuple[str, int]]()

    @property
    def peak(self) -> int:
        return max(here for _, here in self.seen)

    @property
    def processes(self) -> set[str]:
        return {process for process, _ in self.seen}

    async def until(self, holds: Callable[[], bool], seconds: float = 20.0) -> None:
        async with asyncio.timeout(seconds):
            while not holds():
                await asyncio.sleep(0.01)


Behave = Callable[[int, Crowd], Awaitable[Reply]]


def answer(text: str = "done") -> Reply:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    whole = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
    return Reply({**whole, "choices": [choice], "usage": usage})


def refusal() -> Reply:
    return Reply({"error": {"message": "too many requests"}}, 429, {"retry-after": "0"})


class CountingServer:
    """Answers chat completions as `behave` says, which gets the number of the request, from 0."""

    def __init__(self, behave: Behave) -> None:
        self._behave = behave
        self.crowd = Crowd()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Self:
        started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(started)))
        self._thread.start()
        started.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    async def _serve(self, started: threading.Event) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        self._tasks = set[asyncio.Task[None]]()
        server = await asyncio.start_server(self._converse, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        started.set()
        await self._over.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, slot: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while (request := await read_request(reader)) is not None:
                await write_reply(slot, await self._answer(request))
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            slot.transport.abort()

    async def _answer(self, request: Recorded) -> Reply:
        crowd, number = self.crowd, len(self.crowd.seen)
        crowd.here += 1
        crowd.seen.append((process_of(request), crowd.here))
        try:
            return await self._behave(number, crowd)
        finally:
            crowd.here -= 1


def process_of(request: Recorded) -> str:
    """Agents of the tests say in which process they are."""
    return str(json.loads(request.body["messages"][-1]["content"])["process"])
