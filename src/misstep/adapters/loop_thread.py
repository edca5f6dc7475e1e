"""An event loop in a thread of its own, which may be blocked by what runs on it."""

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

from misstep.adapters.threads import Interruptible
from misstep.core.agent import AGENT_THREAD, Displaced, Meter, StepsExhausted
from misstep.core.words import in_words
from misstep.errors import MisstepError

PARTING = 1.0  # seconds for tasks to end when they are cancelled
TICK = 0.25  # seconds between two looks at a stage
LATE = 0.2  # seconds without a sign of life after which it counts as blocked
HAUNTED = 2.0  # seconds that something of a case that is over may block it

Work = Callable[[], Coroutine[Any, Any, Any]]
PASSED_ON = (StepsExhausted, MisstepError, KeyboardInterrupt, asyncio.CancelledError)
OWNER = "misstep_guest"  # the attribute of a task that says whose it is

_guest = contextvars.ContextVar["LoopTask | None"]("guest", default=None)


class LoopTask:
    """One piece of work on a stage; `done` belongs to the loop that asked for it, as do all methods."""

    def __init__(self, work: Work, meter: Meter | None) -> None:
        self._work = work
        self._home = asyncio.get_running_loop()
        self.meter = meter
        self.task: asyncio.Task[None] | None = None
        self.done: asyncio.Future[Any] = self._home.create_future()
        self.done.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody else may ask

    def settle(self, outcome: Any, error: BaseException | None = None) -> None:
        if self.done.done():
            return
        if isinstance(error, asyncio.CancelledError):
            self.done.cancel()
        elif error:
            self.done.set_exception(error)
        else:
            self.done.set_result(outcome)

    async def perform(self) -> None:
        """Do the work over there and tell what came of it. Nothing is raised, or the loop would end."""
        try:
            settle = partial(self.settle, await self._work())
        except BaseException as error:
            settle = partial(self.settle, None, _told(error))
        with suppress(RuntimeError):  # the loop is closed: nobody waits any longer
            self._home.call_soon_threadsafe(settle)


def _told(error: BaseException) -> BaseException:
    """An error of the same name whose words are found here: those of the agent may take for ever to find."""
    if isinstance(error, PASSED_ON):
        return error
    kind: type[Exception] = type(type(error).__name__, (RuntimeError,), {})
    return kind(in_words(error)).with_traceback(error.__traceback__)


class LoopThread:
    """A loop and its guests. All methods are for the thread that made it."""

    def __init__(self) -> None:
        self.guests = set[LoopTask]()
        self._loop = asyncio.new_event_loop()
        self._loop.set_task_factory(_make_task)
        self._ends = False
        self._asked: float | None = None  # when it was asked for a sign of life that has not come yet
        self._given_up = False  # a guest has not stopped, with no sign of life since
        self._granted = 0.0  # until when guests have been compensated
        self._running = Interruptible()
        self._thread = threading.Thread(target=self._serve, name=AGENT_THREAD, daemon=True)
        self._thread.start()

    def admit(self, work: Work, meter: Meter | None) -> LoopTask:
        guest = LoopTask(work, meter)
        self.guests.add(guest)
        context = contextvars.copy_context()
        context.run(_guest.set, guest)

        def start() -> None:
            guest.task = self._loop.create_task(guest.perform())

        self._loop.call_soon_threadsafe(start, context=context)
        return guest

    def cancel(self, guest: LoopTask) -> None:
        """Ask a guest to stop, and the loop for a sign of life."""

        def stop() -> None:
            if guest.task:
                guest.task.cancel()

        self._loop.call_soon_threadsafe(stop)
        self._ping()

    def give_up(self, guest: LoopTask) -> bool:
        """Say that a guest has not stopped though it was asked to; whether it is what blocks the loop."""
        self._given_up = True
        return self._silence() > LATE and self._blocking() is guest

    @property
    def is_haunted(self) -> bool:
        """Whether it is blocked for long by no guest, or by we don't know what since a guest was to stop."""
        blocking = self._blocking()
        nobody = blocking not in self.guests if blocking else self._given_up
        return self._silence() > HAUNTED and nobody

    def look(self) -> None:
        """To be called every `TICK` seconds: time that one guest takes from the others is given back to them.

        Nobody gets any where it can't be said who takes it, since it could be the taker.
        """
        asked, blocking = self._asked, self._blocking()
        if asked is None:
            if self.guests:
                self._ping()
            return
        if blocking is None:
            return
        until = time.monotonic() + TICK
        owed = until - max(asked, self._granted)
        self._granted = until
        for guest in self.guests:
            if guest is not blocking and guest.meter and not guest.done.done():
                guest.meter.wait(owed)

    def leave(self) -> None:
        """Leave it behind with all that is on it; guests that are not done are `Displaced`."""
        self._end()
        self._running.interrupt()
        for guest in self.guests:
            guest.settle(None, Displaced())

    async def close(self) -> None:
        """Stop the loop and wait a moment for it; one that is blocked is left behind."""
        self._end()
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * PARTING):
                while self._thread.is_alive():
                    await asyncio.sleep(0.01)
        self._running.interrupt()

    def _end(self) -> None:
        self._ends = True
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._loop.stop)

    def _ping(self) -> None:
        def answer() -> None:
            self._asked = None
            self._given_up = False

        if self._asked is None:
            self._asked = time.monotonic()
            self._loop.call_soon_threadsafe(answer)

    def _silence(self) -> float:
        """For how long it has owed a sign of life."""
        asked = self._asked
        return 0.0 if asked is None else time.monotonic() - asked

    def _blocking(self) -> LoopTask | None:
        task = asyncio.current_task(self._loop)
        return getattr(task, OWNER, None)

    def _serve(self) -> None:
        """Run the loop until it is stopped, then end what is left on it as far as that can be ended."""
        asyncio.set_event_loop(self._loop)
        try:
            with self._running:
                while not self._ends:
                    _run(self._loop)
                self._loop.set_exception_handler(lambda *_: None)  # nobody wants to know any longer
                self._loop.call_soon(self._loop.stop)
                _run(self._loop)  # to the order to stop, if it has not come to that
                _end_tasks(self._loop)
        finally:
            self._loop.close()


def _make_task(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> "asyncio.Task[Any]":
    """A task that knows whose it is, begun by a guest or by a task of a guest."""
    task = asyncio.Task(work, loop=loop, **options)
    setattr(task, OWNER, _guest.get())
    return task


def _run(loop: asyncio.AbstractEventLoop) -> None:
    with suppress(SystemExit, KeyboardInterrupt):  # of a task that a guest has begun
        loop.run_forever()


def _end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=PARTING))
    loop.run_until_complete(loop.shutdown_asyncgens())
