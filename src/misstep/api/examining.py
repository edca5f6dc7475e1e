"""Examinations of tools side by side, each in a thread with a workbench to itself."""

import signal
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import TypeAlias

from misstep.api.allowance import Allowance
from misstep.api.examiner import Examiner, News
from misstep.api.targets import Target
from misstep.core.finding import ToolReport

Left: TypeAlias = tuple[Target, ToolReport | None]


class Examiners:
    """Works through targets, so many at a time.

    Whatever is found is told at once, unconfirmed; reports on the way say that they are of something stopped.
    """

    def __init__(self, examiner: Examiner, allowance: Allowance, jobs: int) -> None:
        self._examiner = examiner
        self._allowance = allowance
        self._jobs = jobs
        self._news = SimpleQueue[News | BaseException | None]()

    def work(self, targets: Sequence[Left]) -> Generator[News]:
        """What comes of it, as it comes; what goes wrong in an examination is raised here.

        Nobody is at work any more when it ends, however it does.
        Tools are fuzzed by themselves first: what they show alone is no news of them together.
        """
        alone = [left for left in targets if len(left[0].tools) == 1]
        together = [left for left in targets if len(left[0].tools) > 1]
        with _stopping(self._allowance):
            yield from self._work(alone)
            yield from self._work(together)

    def _work(self, targets: Sequence[Left]) -> Iterator[News]:
        waiting = SimpleQueue[Left]()
        for left in targets:
            waiting.put(left)
        count = min(self._jobs, len(targets))
        threads = [
            threading.Thread(target=self._serve, args=(waiting,), name="examiner", daemon=True)
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
                    yield news
        finally:
            if count:
                self._allowance.stop()
            for thread in threads:
                thread.join()

    def _next(self) -> News | BaseException | None:
        while True:
            try:
                return self._news.get()
            except KeyboardInterrupt:
                self._allowance.stop()

    def _serve(self, waiting: "SimpleQueue[Left]") -> None:
        try:
            while not (self._allowance.lacking or self._allowance.is_over()):
                self._examiner.examine(*waiting.get_nowait(), self._news.put)
        except Empty:
            pass  # others have taken the rest
        except BaseException as error:
            self._news.put(error)
        finally:
            self._news.put(None)


@contextmanager
def _stopping(allowance: Allowance) -> Iterator[None]:
    """Ctrl-C and SIGTERM let everybody come to an end, where we are the ones to hear them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, lambda *_: allowance.stop())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
