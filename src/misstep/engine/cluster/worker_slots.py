"""The slots for workers: which one gets the next case."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

from misstep.errors import MisstepError

PATIENCE = 60.0  # seconds without any worker
STRAGGLERS = 20.0  # seconds for others, once there is one


class WorkerSlot:
    """A place for one worker at a time, and the number of cases that it runs."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.hired = False  # a worker is there, ready or not
        self.worker: Any = None  # when it is ready
        self.load = 0
        self.reserved = False  # for a case that is to have it alone
        self.alone = False
        self.failure: MisstepError | None = None  # there will be no worker here


class WorkerSlots:
    """All seats of a crew; a case goes where there is least to do."""

    def __init__(self, count: int, patience: float = PATIENCE, stragglers: float = STRAGGLERS) -> None:
        self._patience = patience
        self._stragglers = stragglers
        self._all = [WorkerSlot(number) for number in range(count)]
        self._changed = asyncio.Event()
        self._since = asyncio.get_running_loop().time()  # when the last worker came, or there was none left

    def __iter__(self) -> Iterator[WorkerSlot]:
        return iter(self._all)

    def hire(self, seat: WorkerSlot) -> None:
        seat.hired = True
        self._tell()

    def fill(self, seat: WorkerSlot, worker: Any) -> None:
        seat.worker = worker
        self._since = asyncio.get_running_loop().time()
        self._tell()

    def vacate(self, seat: WorkerSlot) -> None:
        seat.hired, seat.worker = False, None
        if not self._manned():
            self._since = asyncio.get_running_loop().time()
        self._tell()

    def close(self, seat: WorkerSlot, failure: MisstepError) -> None:
        seat.failure = failure
        self._tell()

    async def filled(self) -> None:
        """Wait until all workers are ready, but not long for those that there may be no room for yet.

        How long an agent takes to get ready is its own business.
        """
        with suppress(TimeoutError):
            while not self._failures() and not all(seat.worker is not None for seat in self._all):
                await self._worker_soon()
        for failure in self._failures():
            raise failure
        if not self._manned():
            raise self._desertion()

    @asynccontextmanager
    async def take(self, alone: bool) -> AsyncIterator[WorkerSlot]:
        """The seat with the least to do; `alone` waits until that is nothing, and keeps others from it."""
        while True:
            seat = await self._lightest()
            worker = seat.worker
            seat.reserved = alone
            try:
                while alone and seat.load and seat.worker is worker:
                    await self._change()
                if seat.worker is worker:
                    with self._loaded(seat, alone):
                        yield seat
                    return
            finally:
                if alone:
                    seat.reserved = False
                    self._tell()

    @contextmanager
    def _loaded(self, seat: WorkerSlot, alone: bool) -> Iterator[None]:
        seat.load += 1
        seat.alone = alone
        try:
            yield
        finally:
            seat.load -= 1
            seat.alone = False
            self._tell()

    async def _lightest(self) -> WorkerSlot:
        while True:
            free = [seat for seat in self._all if seat.worker is not None and not seat.reserved]
            if free:
                return min(free, key=lambda seat: seat.load)
            await (self._change() if self._manned() else self._relief())

    async def _relief(self) -> None:
        """Wait for news when there is no worker at all, which can't go on for ever."""
        failures = self._failures()
        if len(failures) == len(self._all):
            raise failures[0]
        try:
            await self._worker_soon()
        except TimeoutError:
            raise self._desertion() from None

    async def _worker_soon(self) -> None:
        """Wait for news: as long as it takes if a worker is getting ready, else for a while."""
        soon = any(seat.hired and seat.worker is None for seat in self._all)
        limit = self._stragglers if self._manned() else self._patience
        async with asyncio.timeout_at(None if soon else self._since + limit):
            await self._change()

    def _failures(self) -> list[MisstepError]:
        return [seat.failure for seat in self._all if seat.failure]

    def _manned(self) -> bool:
        return any(seat.worker is not None for seat in self._all)

    async def _change(self) -> None:
        await self._changed.wait()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _desertion(self) -> MisstepError:
        return MisstepError(
            f"the Ray cluster has no worker, and none could be started within {self._patience:g} seconds",
            "ray status shows whether there are nodes with a free CPU",
        )
