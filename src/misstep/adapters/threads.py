"""Synchronous agents beside the event loop, in threads that nobody has to wait for."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from misstep.core.agent import AGENT_THREAD

T = TypeVar("T")

PARTING = 1.0  # seconds for tasks to end when they are cancelled


async def in_thread(work: Callable[[], T]) -> T:
    """The result of `work`, done in a thread of its own.

    A cancelled caller goes on at once and leaves the thread behind; being a daemon it keeps no process alive.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(set_outcome: Callable[[], None]) -> None:
        if not done.done():
            set_outcome()

    def run() -> None:
        try:
            result = context.run(work)
        except BaseException as error:
            outcome = _failing(done, error)
        else:
            outcome = _succeeding(done, result)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any longer
            loop.call_soon_threadsafe(settle, outcome)

    threading.Thread(target=run, name=AGENT_THREAD, daemon=True).start()
    return await done


def _succeeding(done: "asyncio.Future[T]", result: T) -> Callable[[], None]:
    return lambda: done.set_result(result)


def _failing(done: "asyncio.Future[T]", error: BaseException) -> Callable[[], None]:
    # A future takes no StopIteration.
    kept = RuntimeError(repr(error)) if isinstance(error, StopIteration) else error
    return lambda: done.set_exception(kept)


class LoopThread:
    """An event loop in a thread of its own, for coroutines that may block it. It starts when it is needed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of a coroutine over there; whoever is cancelled here cancels it there."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_serve, args=[self._loop], name=AGENT_THREAD, daemon=True)
            self._thread.start()
        future = asyncio.run_coroutine_threadsafe(work(), self._loop)
        try:
            return await asyncio.wrap_future(future)
        finally:
            future.cancel()

    async def close(self) -> None:
        """Stop the loop and wait a moment for it; one that is blocked is left behind."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * PARTING):
                while self._thread.is_alive():
                    await asyncio.sleep(0.01)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped, then end what is left on it as far as that can be ended."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.wait(tasks, timeout=PARTING))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
