"""A run started where an event loop is running already, as in a notebook."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar

from misstep.core.event import Event, Listener, RunStarted

T = TypeVar("T")
TICK = 0.2  # seconds


def away_from_loops(work: Callable[[Listener], T]) -> T:
    """The result of `work`, done in a thread of its own where this one has a running event loop.

    The listener that `work` gets has to hear of the run, for through it Ctrl-C reaches the run.
    """
    brake = _Brake()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work(brake)
    done, context = Future[T](), copy_context()

    def run() -> None:
        try:
            done.set_result(context.run(work, brake))
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, name="run", daemon=True).start()
    try:
        # The system may give the signal to any thread, and this one hears of it only when it wakes up.
        while not wait([done], TICK).done:
            pass
    except KeyboardInterrupt:
        brake.pull()
    return done.result()


class _Brake:
    """Stops a run from another thread, at the latest when it begins."""

    def __init__(self) -> None:
        self._is_pulled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):  # told by the task that all others of the run belong to
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
            if self._is_pulled:
                self.pull()

    def pull(self) -> None:
        self._is_pulled = True
        if self._loop and self._task:
            with suppress(RuntimeError):  # it is over already
                self._loop.call_soon_threadsafe(self._task.cancel)
