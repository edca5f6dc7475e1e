"""Starts a run while an event loop is already running, as in a notebook."""

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
    """The result of `work`, run in a separate thread if this one has a running event loop.

    `work` has to pass its listener to the run, because Ctrl-C reaches the run through it.
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
        # The system may deliver the signal to any thread, and this one notices it only when it wakes up.
        while not wait([done], TICK).done:
            pass
    except KeyboardInterrupt:
        brake.pull()
    return done.result()


class _Brake:
    """Stops a run from another thread, at the latest when it starts."""

    def __init__(self) -> None:
        self._is_pulled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):  # sent by the run's main task
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
            if self._is_pulled:
                self.pull()

    def pull(self) -> None:
        self._is_pulled = True
        if self._loop and self._task:
            with suppress(RuntimeError):  # it is already over
                self._loop.call_soon_threadsafe(self._task.cancel)
