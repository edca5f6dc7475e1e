"""Work beside the event loop, in threads that nobody has to wait for."""

import asyncio
import contextvars
import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from misstep.core.agent import AGENT_THREAD

T = TypeVar("T")


async def in_thread(work: Callable[[], T], breakable: bool = False) -> T:
    """The result of `work`, done in a thread of its own.

    A cancelled caller goes on at once and leaves the thread behind; being a daemon it keeps no process alive.
    If it is `breakable` it is broken off as well, as far as that can be done.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()
    at_work = Interruptible()

    def settle(set_outcome: Callable[[], None]) -> None:
        if not done.done():
            set_outcome()

    def run() -> None:
        try:
            with at_work:
                result = context.run(work)
        except BaseException as error:
            outcome = _failing(done, error)
        else:
            outcome = _succeeding(done, result)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any longer
            loop.call_soon_threadsafe(settle, outcome)

    threading.Thread(target=run, name=AGENT_THREAD, daemon=True).start()
    try:
        return await done
    except asyncio.CancelledError:
        if breakable:
            at_work.interrupt()
        raise


def _succeeding(done: "asyncio.Future[T]", result: T) -> Callable[[], None]:
    return lambda: done.set_result(result)


def _failing(done: "asyncio.Future[T]", error: BaseException) -> Callable[[], None]:
    # A future takes no StopIteration.
    kept = RuntimeError(repr(error)) if isinstance(error, StopIteration) else error
    return lambda: done.set_exception(kept)


class Interruptible:
    """Entered by a thread while it runs what another one may want to break off."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: int | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._thread = threading.get_ident()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._thread = None

    def interrupt(self) -> None:
        """Raise `SystemExit` over there as soon as it runs Python: what turns for ever would slow all others.

        Nothing happens to a thread that has left, or to one that waits in the system until it is back.
        """
        with self._lock:
            if self._thread is not None:
                number = ctypes.c_ulong(self._thread)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(SystemExit))
