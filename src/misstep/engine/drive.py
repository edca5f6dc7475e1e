"""The main loop of a run: runs the campaign's cases concurrently and writes outcomes in batches."""

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeAlias, TypeVar

from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.run import Campaign
from misstep.engine.budget import CaseAccount, CaseBudget

T = TypeVar("T")
R = TypeVar("R")

PARTING = 60.0  # seconds to write the last batches: longer than database lock timeouts

_Batch: TypeAlias = "list[tuple[T, asyncio.Future[None]]]"


class Batches(Generic[T, R]):
    """Passes items to `write` in a separate thread, in batches, so that the loop never waits for a disk.

    `told` is called on the loop for each written item with the result of `write`, whether or not anything
    still waits for it. Nothing is dropped: leaving the context waits until everything is written. The last
    batch is empty, so that `write` can record the end.
    """

    def __init__(
        self, write: Callable[[Sequence[T]], Sequence[R]], told: Callable[[T, R], None] = lambda *_: None
    ) -> None:
        self._write = write
        self._told = told
        self._waiting: _Batch[T] = []
        self._handed: queue.SimpleQueue[_Batch[T] | None] = queue.SimpleQueue()
        self._busy = False
        self._idle = asyncio.Event()
        self._idle.set()

    async def __aenter__(self) -> "Batches[T, R]":
        self._loop = asyncio.get_running_loop()
        # A daemon thread: a store that never answers must not keep the process alive.
        threading.Thread(target=self._serve, name="store", daemon=True).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(PARTING):
                await self._idle.wait()
                self._idle.clear()
                self._handed.put([])
                await self._idle.wait()
        self._handed.put(None)

    async def put(self, item: T) -> None:
        """Wait until the item is written and reported; an error is raised for each item of its batch."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append((item, future))
        self._idle.clear()
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._next)  # groups cases that end at the same moment
        await future

    def _next(self) -> None:
        batch, self._waiting = self._waiting, []
        self._busy = bool(batch)
        if batch:
            self._handed.put(batch)
        else:
            self._idle.set()

    def _serve(self) -> None:
        while (batch := self._handed.get()) is not None:
            results: Sequence[R] | BaseException
            try:
                results = self._write([item for item, _ in batch])
            except BaseException as error:
                results = error
            with suppress(RuntimeError):  # the loop has closed: nothing waits any longer
                self._loop.call_soon_threadsafe(self._settle, batch, results)

    def _settle(self, batch: "_Batch[T]", results: Sequence[R] | BaseException) -> None:
        for place, (item, future) in enumerate(batch):
            try:
                if isinstance(results, BaseException):
                    raise results
                self._told(item, results[place])
            except BaseException as error:
                if not future.done():
                    future.set_exception(error)
            else:
                if not future.done():
                    future.set_result(None)
        self._next()


AT_A_TIME = 4  # cases that are started before others run


async def drive(
    campaign: Campaign,
    start: Callable[[Case, CaseAccount], Awaitable[Outcome]],
    jobs: int,
    case_budget: CaseBudget,
) -> bool:
    """Run a campaign with up to `jobs` cases in flight; True if it finished.

    Before each case the budget is checked; once it is used up and no case is in flight, the run is over.
    `start` runs a case, stores its outcome and returns it. It must not raise for what an agent does; an
    exception from it ends the run.
    """
    news = asyncio.Event()
    flying, admitted = 0, True

    async def fly(case: Case, account: CaseAccount) -> None:
        nonlocal flying
        try:
            campaign.tell(await start(case, account))
        finally:
            flying -= 1
            news.set()

    try:
        async with asyncio.TaskGroup() as group:
            while True:
                news.clear()
                admitted = True
                while flying < jobs and (admitted := case_budget.admit()) and (batch := campaign.ask(1)):
                    flying += 1
                    group.create_task(fly(batch[0], case_budget.open()))
                    if flying % AT_A_TIME == 0:
                        await asyncio.sleep(0)  # let cases in flight proceed first
                if not flying:
                    break
                await news.wait()
    except* Exception as failures:
        raise failures.exceptions[0] from None
    return admitted
