"""Group commit: everything is written, in order, by one writer at a time."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from misstep.engine.batches import Batches


class Book:
    """Writes numbers down, and finds out whether it is ever used by two at a time."""

    def __init__(self) -> None:
        self.pages = list[list[int]]()
        self.closed = 0
        self.shared = False
        self.threads = set[str]()
        self._lock = threading.Lock()

    def write(self, items: Sequence[int]) -> list[int]:
        self.shared |= not self._lock.acquire(blocking=False)
        self.threads.add(threading.current_thread().name)
        if items:
            self.pages.append(list(items))
        else:
            self.closed += 1
        if 13 in items:
            raise OSError("no thirteenth entry")
        self._lock.release()
        return [2 * item for item in items]


def test_each_item_is_written_once_and_gets_its_own_result() -> None:
    book = Book()

    async def run() -> list[int]:
        async with Batches(book.write) as batches:
            first = await asyncio.gather(*[batches.put(item) for item in range(100, 150)])
            second = [await batches.put(item) for item in range(200, 205)]
            return [*first, *second]

    assert asyncio.run(run()) == [2 * item for item in [*range(100, 150), *range(200, 205)]]
    assert [item for page in book.pages for item in page] == [*range(100, 150), *range(200, 205)]
    assert not book.shared
    assert book.closed == 1
    assert threading.current_thread().name not in book.threads


def test_what_comes_together_is_written_together() -> None:
    book = Book()

    async def run() -> None:
        async with Batches(book.write) as batches:
            await asyncio.gather(*[batches.put(item) for item in range(100, 150)])

    asyncio.run(run())
    assert len(book.pages) == 1


def test_what_comes_while_one_batch_is_written_makes_up_the_next() -> None:
    pages, gate = list[list[int]](), threading.Event()

    def write(items: Sequence[int]) -> list[int]:
        gate.wait()
        if items:
            pages.append(list(items))
        return list(items)

    async def run() -> None:
        async with Batches(write) as batches:
            first = asyncio.create_task(batches.put(1))
            await asyncio.sleep(0.05)
            rest = [asyncio.create_task(batches.put(item)) for item in (2, 3, 4)]
            await asyncio.sleep(0.05)
            gate.set()
            await asyncio.gather(first, *rest)

    asyncio.run(run())
    assert pages == [[1], [2, 3, 4]]


def test_an_error_reaches_whoever_it_concerns_and_nobody_else() -> None:
    book = Book()

    async def run() -> None:
        async with Batches(book.write) as batches:
            assert await batches.put(1) == 2
            with pytest.raises(OSError, match="no thirteenth entry"):
                await batches.put(13)

    asyncio.run(run())


def test_what_was_put_in_is_written_though_nobody_waits_for_it_any_longer() -> None:
    book = Book()

    async def run() -> None:
        async with Batches(book.write) as batches:
            tasks = [asyncio.create_task(batches.put(item)) for item in range(100, 110)]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()

    asyncio.run(run())
    assert [item for page in book.pages for item in page] == list(range(100, 110))
