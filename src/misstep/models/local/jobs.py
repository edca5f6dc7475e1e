"""A piece of work on its way from an event loop to an engine."""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from misstep.core.agent import Meter
from misstep.models.local.engine import Engine, Files, Work, Written

STEP = 0.1  # seconds of waiting told at a time

Tell = Callable[[str], None]


class Job:
    """What is to be written with which files, and who waits for it."""

    def __init__(self, work: Work, files: Files, tell: Tell) -> None:
        self.work = work
        self.files = files
        self.unwanted = threading.Event()
        self.queued = self.taken = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self._tell = tell
        self.started: asyncio.Future[None] = self._loop.create_future()
        self.done: asyncio.Future[Written] = self._loop.create_future()

    async def wait_for_a_lane(self, meter: Meter) -> None:
        """Until an engine takes it; the time is told to the meter as waiting."""
        told = 0.0
        await asyncio.wait((self.started,), timeout=STEP / 10)  # a free lane takes no longer
        while not self.started.done():
            meter.wait(STEP)
            told += STEP
            await asyncio.wait((self.started,), timeout=STEP)
        # While the runtime loads it lets nobody else run, so that some of the time may be over already.
        if (untold := self.taken - self.queued - told) > STEP:
            meter.wait(untold)

    def run(self, engine: Engine) -> Written | Exception:
        self.taken = time.monotonic()
        self._post(_settle, self.started, None)
        try:
            return engine.write(self.work, self.unwanted.is_set)
        except Exception as error:
            return error

    def end(self, outcome: Written | Exception) -> None:
        self._post(_settle, self.started, None)
        self._post(_settle, self.done, outcome)

    def tell(self, line: str) -> None:
        self._post(self._tell, line)

    def drop(self) -> None:
        self.unwanted.set()
        self.started.cancel()
        self.done.cancel()

    def _post(self, function: Callable[..., None], *arguments: Any) -> None:
        with suppress(RuntimeError):  # nobody hears anything once the loop is closed
            self._loop.call_soon_threadsafe(function, *arguments)


def _settle(future: "asyncio.Future[Any]", outcome: Any) -> None:
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
