"""An event loop that stays open from one call of a tool to the next."""

import asyncio
import inspect
import os
from asyncio import events
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from misstep.adapters.toolset.calling.returned import MOST_ITEMS


class Loop:
    """Waits for whatever has to be awaited. A process that was forked gets a loop of its own."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0

    def settle(self, value: Any) -> Any:
        """The value, or what comes of it where it has to be awaited; a list of what it gives bit by bit."""
        if inspect.isasyncgen(value):
            return self.open().run_until_complete(drained(value))
        return self.open().run_until_complete(_awaited(value)) if inspect.isawaitable(value) else value

    def open(self) -> asyncio.AbstractEventLoop:
        if self._loop is None or self._process != os.getpid():
            self._loop, self._process = asyncio.new_event_loop(), os.getpid()
            self._loop.set_default_executor(_Here())
        return self._loop

    def close(self) -> None:
        if self._loop is not None and self._process == os.getpid():
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()
        self._loop = None


async def _awaited(value: Any) -> Any:
    return await value


async def drained(value: Any) -> list[Any]:
    """What comes first out of an asynchronous generator."""
    found = list[Any]()
    async for each in value:
        found.append(each)
        if len(found) == MOST_ITEMS:
            break
    await value.aclose()
    return found


@contextmanager
def no_loop_running() -> Iterator[None]:
    """For code that may start an event loop of its own, which it can't while another runs in its thread."""
    running = events._get_running_loop()
    if running is None:
        yield
        return
    events._set_running_loop(None)
    try:
        yield
    finally:
        events._set_running_loop(running)


class _Here(ThreadPoolExecutor):
    """Carries out at once, where it can be watched, what frameworks send into other threads."""

    def __init__(self) -> None:
        super().__init__(max_workers=1)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future = Future[Any]()
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future
