"""Runs the user's agents in threads and on separate event loops, so that they cannot block ours."""

import asyncio
import contextvars
import ctypes
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import ExitStack, suppress
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, TypeVar

from misstep.core.agent import (
    AGENT_THREAD,
    Agent,
    Answer,
    Assignment,
    Closing,
    Displaced,
    Meter,
    Preparing,
    StepsExhausted,
    Toolbox,
)
from misstep.core.surroundings import APART, protected, take_changes
from misstep.core.text import in_words
from misstep.errors import MisstepError

T = TypeVar("T")


async def in_thread(work: Callable[[], T], breakable: bool = False) -> T:
    """The result of `work`, run in a separate thread.

    If the caller is cancelled, it continues at once and abandons the thread, which is a daemon. If
    `breakable`, the thread is interrupted as well, as far as possible.
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
            # A future cannot hold a StopIteration.
            kept = RuntimeError(repr(error)) if isinstance(error, StopIteration) else error
            outcome = partial(done.set_exception, kept)
        else:
            outcome = partial(done.set_result, result)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, outcome)

    threading.Thread(target=run, name=AGENT_THREAD, daemon=True).start()
    try:
        return await done
    except asyncio.CancelledError:
        if breakable:
            at_work.interrupt()
        raise


class Interruptible:
    """A context that a thread enters while it runs code that another thread may interrupt."""

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
        """Raise `SystemExit` in that thread once it runs Python code: an endless loop would slow all others.

        Does nothing if the thread has left the context; a blocking system call has to return first.
        """
        with self._lock:
            if self._thread is not None:
                number = ctypes.c_ulong(self._thread)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(SystemExit))


PARTING = 1.0  # seconds for cancelled tasks to end
TICK = 0.25  # seconds between checks of a loop thread
LATE = 0.2  # seconds without a response after which the loop counts as blocked
LEFTOVERS = 2.0  # seconds that leftovers of a finished case may block the loop

Work = Callable[[], Coroutine[Any, Any, Any]]
PASSED_ON = (StepsExhausted, MisstepError, KeyboardInterrupt, asyncio.CancelledError)
OWNER = "misstep_guest"  # attribute of an asyncio task that names its LoopTask

_task = contextvars.ContextVar["LoopTask | None"]("guest", default=None)


class LoopTask:
    """One piece of work on a loop thread; `done` and all methods belong to the calling loop."""

    def __init__(self, work: Work, meter: Meter | None) -> None:
        self._work = work
        self._home = asyncio.get_running_loop()
        self.meter = meter
        self.task: asyncio.Task[None] | None = None
        self.done: asyncio.Future[Any] = self._home.create_future()
        self.done.add_done_callback(lambda done: done.cancelled() or done.exception())  # mark as retrieved

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
        """Do the work on the loop thread and report the result. Never raises, which would end the loop."""
        try:
            settle = partial(self.settle, await self._work())
        except BaseException as error:
            settle = partial(self.settle, None, _told(error))
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._home.call_soon_threadsafe(settle)


def _told(error: BaseException) -> BaseException:
    """An error of the same name with its message computed here, because that may take very long."""
    if isinstance(error, PASSED_ON):
        return error
    kind: type[Exception] = type(type(error).__name__, (RuntimeError,), {})
    return kind(in_words(error)).with_traceback(error.__traceback__)


class LoopThread:
    """An event loop in a thread, with its tasks. All methods are for the thread that created it."""

    def __init__(self) -> None:
        self.tasks = set[LoopTask]()
        self._loop = asyncio.new_event_loop()
        self._loop.set_task_factory(_make_task)
        self._ends = False
        self._asked: float | None = None  # time of a ping that was not answered yet
        self._given_up = False  # a task did not stop, and no ping was answered since
        self._granted = 0.0  # until when tasks have been compensated
        self._running = Interruptible()
        self._thread = threading.Thread(target=self._serve, name=AGENT_THREAD, daemon=True)
        self._thread.start()

    def admit(self, work: Work, meter: Meter | None) -> LoopTask:
        task = LoopTask(work, meter)
        self.tasks.add(task)
        context = contextvars.copy_context()
        context.run(_task.set, task)

        def start() -> None:
            task.task = self._loop.create_task(task.perform())

        self._loop.call_soon_threadsafe(start, context=context)
        return task

    def cancel(self, task: LoopTask) -> None:
        """Ask a task to stop, and ping the loop."""

        def stop() -> None:
            if task.task:
                task.task.cancel()

        self._loop.call_soon_threadsafe(stop)
        self._ping()

    def give_up(self, task: LoopTask) -> bool:
        """Report that a task did not stop. Returns whether it is what blocks the loop."""
        self._given_up = True
        return self._silence() > LATE and self._blocking() is task

    @property
    def is_blocked_by_leftovers(self) -> bool:
        """Whether it is blocked for long by something that is no longer one of its tasks."""
        blocking = self._blocking()
        nobody = blocking not in self.tasks if blocking else self._given_up
        return self._silence() > LEFTOVERS and nobody

    def look(self) -> None:
        """Call this every `TICK` seconds: it compensates tasks for time that another one blocks the loop."""
        asked, blocking = self._asked, self._blocking()
        if asked is None:
            if self.tasks:
                self._ping()
            return
        if blocking is None:  # then none gets any time, because it could be the one
            return
        until = time.monotonic() + TICK
        owed = until - max(asked, self._granted)
        self._granted = until
        for task in self.tasks:
            if task is not blocking and task.meter and not task.done.done():
                task.meter.wait(owed)

    def leave(self) -> None:
        """Abandon the loop with everything on it; unfinished tasks are `Displaced`."""
        self._end()
        self._running.interrupt()
        for task in self.tasks:
            task.settle(None, Displaced())

    async def close(self) -> None:
        """Stop the loop and wait briefly for it; a blocked one is abandoned."""
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
        """How long a ping has been unanswered."""
        asked = self._asked
        return 0.0 if asked is None else time.monotonic() - asked

    def _blocking(self) -> LoopTask | None:
        task = asyncio.current_task(self._loop)
        return getattr(task, OWNER, None)

    def _serve(self) -> None:
        """Run the loop until it is stopped, then end what is left on it as far as possible."""
        asyncio.set_event_loop(self._loop)
        try:
            with self._running:
                while not self._ends:
                    _run_loop(self._loop)
                self._loop.set_exception_handler(lambda *_: None)  # nobody needs reports any more
                self._loop.call_soon(self._loop.stop)
                _run_loop(self._loop)  # until the request to stop, if it was not reached
                tasks = asyncio.all_tasks(self._loop)
                for task in tasks:
                    task.cancel()
                if tasks:
                    self._loop.run_until_complete(asyncio.wait(tasks, timeout=PARTING))
                self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()


def _make_task(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> "asyncio.Task[Any]":
    """A task that knows which LoopTask it, or the task that created it, belongs to."""
    task = asyncio.Task(work, loop=loop, **options)
    setattr(task, OWNER, _task.get())
    return task


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    with suppress(SystemExit, KeyboardInterrupt):  # from a task that a LoopTask started
        loop.run_forever()


TIDYING = 0.4  # seconds to stop after cancellation; callers hardly wait longer


class ThreadedAgent:
    """Runs an agent on an event loop in a separate thread, the same for all its cases.

    Time that one case takes from others by blocking that loop does not count for them. If the loop is still
    blocked when the time of that case is up, it is abandoned: later cases run on a new one, and the other
    cases on it are `Displaced`.
    """

    def __init__(self, agent: Agent, name: str = "") -> None:
        self.name = name or agent.name
        self._agent = agent
        self._stage: LoopThread | None = None
        self._watch: asyncio.Task[None] | None = None
        self._shelter = ExitStack()
        self._is_sheltered = False

    async def prepare(self) -> None:
        if isinstance(self._agent, Preparing) and iscoroutinefunction(self._agent.prepare):
            await self._perform(self._agent.prepare)

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        answer: Answer = await self._perform(lambda: _run_agent(self._agent, assignment, toolbox), toolbox)
        return answer

    async def close(self) -> None:
        try:
            if isinstance(self._agent, Closing) and iscoroutinefunction(self._agent.close):
                await self._perform(self._agent.close)
        finally:
            if self._watch:
                self._watch.cancel()
            stage, self._stage = self._stage, None
            if stage:
                await stage.close()
            self._shelter.close()
            self._is_sheltered = False

    async def _perform(self, work: Work, meter: Meter | None = None) -> Any:
        if self._stage is None and not self._is_sheltered:
            self._shelter.enter_context(protected())
            self._is_sheltered = True
        stage = self._stage = self._stage or LoopThread()
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._keep_watch())
        task = stage.admit(work, meter)
        try:
            return await asyncio.shield(task.done)
        except asyncio.CancelledError:
            if not task.done.done():  # otherwise the agent cancelled itself
                stage.cancel(task)
                await asyncio.wait([task.done], timeout=TIDYING)
                if not task.done.done() and stage.give_up(task):
                    self._leave(stage)
            raise
        finally:
            stage.tasks.discard(task)

    def _leave(self, stage: LoopThread) -> None:
        if self._stage is stage:
            self._stage = None
        stage.leave()

    async def _keep_watch(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            if self._stage:
                self._stage.look()
                if self._stage.is_blocked_by_leftovers:
                    self._leave(self._stage)


async def _run_agent(agent: Agent, assignment: Assignment, toolbox: Toolbox) -> Answer:
    """Run the agent; raises if it modified the interpreter."""
    try:
        return await agent.run(assignment, toolbox)
    finally:
        if changes := take_changes():
            raise RuntimeError(f"the agent replaced or closed {', '.join(changes[:5])}; {APART}")
