"""Work on several things side by side, each in a thread of its own."""

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
    """Work through items, so many at a time. `do` works on one, and tells what comes of it as it comes."""

    def __init__(
        self, do: Callable[[Item, Callable[[News], None]], None], run_budget: RunBudget, jobs: int
    ) -> None:
        self._do = do
        self._run_budget = run_budget
        self._jobs = jobs
        self._news = SimpleQueue[tuple[News] | BaseException | None]()

    def work(self, items: Sequence[Item]) -> Generator[News]:
        """What comes of it; what goes wrong in a thread is raised here.

        Nobody is at work any more when it ends, however it does.
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
            pass  # others have taken the rest
        except BaseException as error:
            self._news.put(error)
        finally:
            self._news.put(None)


@contextmanager
def stopping(run_budget: RunBudget) -> Iterator[None]:
    """Ctrl-C and SIGTERM let everybody come to an end, where we are the ones to hear them."""
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
