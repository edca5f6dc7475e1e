"""Works on several items at a time, each in its own thread."""

import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from misstep.runs.budget import RunBudget

Item = TypeVar("Item")
News = TypeVar("News")


class Workers(Generic[Item, News]):
    """Works on items, several at a time. `do` works on one, and reports results as they arrive."""

    def __init__(
        self, do: Callable[[Item, Callable[[News], None]], None], run_budget: RunBudget, jobs: int
    ) -> None:
        self._do = do
        self._run_budget = run_budget
        self._jobs = jobs
        self._news = SimpleQueue[tuple[News] | BaseException | None]()

    def work(self, items: Sequence[Item]) -> Generator[News]:
        """Yield the results; an error in a thread is raised here.

        No thread is running when it ends, however it ends.
        """
        waiting = SimpleQueue[Item]()
        for item in items:
            waiting.put(item)
        count = min(self._jobs, len(items))
        threads = [
            threading.Thread(target=self._serve, args=(waiting,), name="worker", daemon=True)
            for _ in range(count)
        ]
        for thread in threads:
            thread.start()
        try:
            while count:
                news = self._next()
                if news is None:
                    count -= 1
                elif isinstance(news, BaseException):
                    raise news
                else:
                    yield news[0]
        finally:
            if count:
                self._run_budget.stop()
            for thread in threads:
                thread.join()

    def _next(self) -> tuple[News] | BaseException | None:
        while True:
            try:
                return self._news.get()
            except KeyboardInterrupt:
                self._run_budget.stop()

    def _serve(self, waiting: "SimpleQueue[Item]") -> None:
        try:
            while not (self._run_budget.lacking or self._run_budget.is_over()):
                self._do(waiting.get_nowait(), lambda news: self._news.put((news,)))
        except Empty:
            pass  # other threads have taken the rest
        except BaseException as error:
            self._news.put(error)
        finally:
            self._news.put(None)


@contextmanager
def stopping(run_budget: RunBudget) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM stop all threads in order, if signals can be handled here."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, lambda *_: run_budget.stop())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
