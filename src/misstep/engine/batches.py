"""Group commit: what arrives while one batch is being written makes up the next."""

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")
R = TypeVar("R")

PARTING = 5.0  # seconds for the last batches to be written when everything ends

_Batch: TypeAlias = "list[tuple[T, asyncio.Future[R]]]"


class Batches(Generic[T, R]):
    """Hands items to `write` in a thread of its own, several at a time: the loop never waits for a disk.

    Nothing put in is dropped: leaving the context waits for what is still to be written. The last batch is an
    empty one, for whatever there is to say at the end.
    """

    def __init__(self, write: Callable[[Sequence[T]], Sequence[R]]) -> None:
        self._write = write
        self._waiting: _Batch[T, R] = []
        self._written: queue.SimpleQueue[_Batch[T, R] | None] = queue.SimpleQueue()
        self._busy = False
        self._idle = asyncio.Event()
        self._idle.set()

    async def __aenter__(self) -> "Batches[T, R]":
        self._loop = asyncio.get_running_loop()
        # A daemon: a store that never answers must not keep the process alive.
        threading.Thread(target=self._serve, name="store", daemon=True).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(PARTING):
                await self._idle.wait()
                self._idle.clear()
                self._written.put([])
                await self._idle.wait()
        self._written.put(None)

    async def put(self, item: T) -> R:
        """What `write` made of the item, once it is written; an error is raised for each item of a batch."""
        future: asyncio.Future[R] = self._loop.create_future()
        self._waiting.append((item, future))
        self._idle.clear()
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._next)  # cases that end in the same moment go together
        return await future

    def _next(self) -> None:
        batch, self._waiting = self._waiting, []
        self._busy = bool(batch)
        if batch:
            self._written.put(batch)
        else:
            self._idle.set()

    def _serve(self) -> None:
        while (batch := self._written.get()) is not None:
            try:
                results = self._write([item for item, _ in batch])
            except BaseException as error:
                settle = _failing(batch, error)
            else:
                settle = _succeeding(batch, results)
            with suppress(RuntimeError):  # the loop has closed: nobody waits any longer
                self._loop.call_soon_threadsafe(self._settle, settle)

    def _settle(self, settle: Callable[[], None]) -> None:
        settle()
        self._next()


def _succeeding(batch: "_Batch[T, R]", results: Sequence[R]) -> Callable[[], None]:
    def settle() -> None:
        for (_, future), result in zip(batch, results, strict=True):
            if not future.done():
                future.set_result(result)

    return settle


def _failing(batch: "_Batch[T, R]", error: BaseException) -> Callable[[], None]:
    def settle() -> None:
        for _, future in batch:
            if not future.done():
                future.set_exception(error)

    return settle
