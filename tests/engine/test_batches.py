"""Group commit: everything is written, in order, by one writer at a time."""

import asyncio
import threading
from collections.abc import Sequence

from misstep.engine.drive import Batches


class Book:
    """Writes numbers down, and finds out whether it is ever used by two at a time."""

    def __init__(self) -> None:
        self.pages = list[list[int]]()
        self.told = list[tuple[int, int]]()
        self.closed = 0
        self.shared = False
        self.threads = set[str]()
        self._lock = threading.Lock()

    @property
    def written(self) -> list[int]:
        return [item for page in self.pages for item in page]

    def write(self, items: Sequence[int]) -> list[int]:
        if not self._lock.acquire(blocking=False):
            self.shared = True
            return []
        self.threads.add(threading.current_thread().name)
        try:
            if 13 in items:
                raise OSError("no thirteenth entry")
            self.closed += not items
            self.pages += [list(items)] if items else []
            return [2 * item for item in items]
        finally:
            self._lock.release()

    def tell(self, item: int, result: int) -> None:
        if item == 666:
            raise ValueError("nobody wants to hear that")
        self.told.append((item, result))

    def opened(self) -> "Batches[int, int]":
        return Batches(self.write, self.tell)


def test_each_item_is_written_once_and_told_with_its_own_result() -> None:
    book = Book()

    async def run() -> None:
        async with book.opened() as batches:
            await asyncio.gather(*[batches.put(item) for item in range(100, 150)])
            for item in range(200, 205):
                await batches.put(item)
                assert book.told[-1] == (item, 2 * item)

    asyncio.run(run())
    items = [*range(100, 150), *range(200, 205)]
    assert book.written == items
    assert book.told == [(item, 2 * item) for item in items]
    assert not book.shared
    assert book.closed == 1
    assert threading.current_thread().name not in book.threads


def test_what_comes_together_is_written_together() -> None:
    book = Book()

    async def run() -> None:
        async with book.opened() as batches:
            await asyncio.gather(*[batches.put(item) for item in range(100, 150)])

    asyncio.run(run())
    assert len(book.pages) == 1


def test_what_comes_while_one_batch_is_written_makes_up_the_next() -> None:
    pages, rate_limiter = list[list[int]](), threading.Event()

    def write(items: Sequence[int]) -> list[int]:
        rate_limiter.wait()
        pages.append(list(items))
        return list(items)

    async def run() -> None:
        async with Batches(write) as batches:
            first = asyncio.create_task(batches.put(1))
            await asyncio.sleep(0.05)
            rest = [asyncio.create_task(batches.put(item)) for item in (2, 3, 4)]
            await asyncio.sleep(0.05)
            rate_limiter.set()
            await asyncio.gather(first, *rest)

    asyncio.run(run())
    assert pages == [[1], [2, 3, 4], []]


def test_an_error_reaches_all_of_its_batch_and_none_of_the_next() -> None:
    book = Book()

    async def run() -> None:
        async with book.opened() as batches:
            ends = await asyncio.gather(*[batches.put(item) for item in (12, 13, 14)], return_exceptions=True)
            assert [str(end) for end in ends] == ["no thirteenth entry"] * 3
            await batches.put(15)

    asyncio.run(run())
    assert (book.written, book.told) == ([15], [(15, 30)])


def test_an_error_of_who_is_told_concerns_that_item_alone() -> None:
    book = Book()

    async def run() -> None:
        async with book.opened() as batches:
            ends = await asyncio.gather(*[batches.put(item) for item in (1, 666, 2)], return_exceptions=True)
            assert [type(end) for end in ends] == [type(None), ValueError, type(None)]
            await batches.put(3)

    asyncio.run(run())
    assert book.written == [1, 666, 2, 3]
    assert book.told == [(1, 2), (2, 4), (3, 6)]


def test_what_was_put_in_is_written_and_told_though_nobody_waits_for_it_any_longer() -> None:
    book = Book()

    async def run() -> None:
        async with book.opened() as batches:
            tasks = [asyncio.create_task(batches.put(item)) for item in range(100, 110)]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()

    asyncio.run(run())
    assert book.written == list(range(100, 110))
    assert book.told == [(item, 2 * item) for item in range(100, 110)]
