"""Synchronous agents beside the event loop, in threads that nobody has to wait for."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from misstep.core.agent import AGENT_THREAD

T = TypeVar("T")


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
