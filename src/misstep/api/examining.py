"""Examinations of tools side by side, each in a thread with a workbench to itself."""

import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeAlias

from misstep.api.allowance import Allowance
from misstep.api.targets import Target
from misstep.api.workbenches import Workbenches
from misstep.core.dice import derive_seed
from misstep.core.finding import Finding, ToolReport
from misstep.core.settings import Settings
from misstep.tooling.examination import STRETCH, Ended, Examination

BETWEEN = 10.0  # seconds between two reports on the way, so that a killed run loses no more

Left: TypeAlias = tuple[Target, ToolReport | None]
News: TypeAlias = Finding | ToolReport


class Examiners:
    """Works through targets, as many at a time as the settings say.

    Whatever is found is told at once, unconfirmed; reports on the way say that they are of something stopped.
    """

    def __init__(self, benches: Workbenches, settings: Settings, allowance: Allowance) -> None:
        self._benches = benches
        self._settings = settings
        self._allowance = allowance
        self._news = SimpleQueue[News | BaseException | None]()
        self._known = set[tuple[str, str]]()  # tool and signature of what has been found
        self._lock = threading.Lock()

    def work(self, targets: Sequence[Left]) -> Iterator[News]:
        """What comes of it, as it comes; what goes wrong in an examination is raised here.

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
        count = min(self._settings.jobs, len(targets))
        threads = [
            threading.Thread(target=self._serve, args=(waiting,), name="examiner", daemon=True)
            for _ in range(count)
        ]
        for thread in threads:
            thread.start()
        while count:
            news = self._next()
            if news is None:
                count -= 1
            elif isinstance(news, BaseException):
                self._allowance.stop()
                raise news
            else:
                yield news

    def _next(self) -> News | BaseException | None:
        while True:
            try:
                return self._news.get()
            except KeyboardInterrupt:
                self._allowance.stop()

    def _serve(self, waiting: "SimpleQueue[Left]") -> None:
        try:
            while not waiting.empty() and not (self._allowance.lacking or self._allowance.is_over()):
                self._examine(*waiting.get_nowait())
        except BaseException as error:
            self._news.put(error)
        finally:
            self._news.put(None)

    def _examine(self, target: Target, before: ToolReport | None) -> None:
        seed = derive_seed(self._settings.seed, *target.tools, before.calls if before else 0)
        with self._benches.lend(target.spec) as bench:
            tools = [tool for tool in bench.tools if tool.name in target.tools]
            blank = ToolReport(target.name, 0, place=target.place, sandbox=bench.sandbox.words)
            examination = Examination(bench, tools, target.spec, seed, before or blank)
            ended = self._fuzz(examination)
            if ended != "stopped" and not examination.settle(self._found(), self._allowance.is_over):
                ended = "stopped"
            report = examination.report(ended)
        with self._lock:
            self._known |= {(finding.tool, finding.signature) for finding in report.findings}
        self._news.put(report)

    def _found(self) -> frozenset[tuple[str, str]]:
        with self._lock:
            return frozenset(self._known)

    def _fuzz(self, examination: Examination) -> Ended:
        """Go on until a limit is reached; says which."""
        settings, began, told = self._settings, time.monotonic() - examination.seconds, time.monotonic()

        def over() -> bool:
            examination.seconds = time.monotonic() - began
            return examination.seconds >= settings.time_per_tool or self._allowance.is_over()

        while not over():
            wanted = min(STRETCH, (settings.calls_per_tool or sys.maxsize) - examination.calls)
            if wanted <= 0:
                return "calls"
            granted = self._allowance.admit(wanted)
            if not granted:
                return "stopped"
            made = examination.go_on(granted, over)
            self._allowance.give_back(granted - made)
            self._tell(examination)
            if not made:
                return "exhausted"
            if time.monotonic() - told > BETWEEN:
                told = time.monotonic()
                self._news.put(examination.report("stopped"))
        return "stopped" if self._allowance.is_over() else "time"

    def _tell(self, examination: Examination) -> None:
        for finding in examination.news():
            if (finding.tool, finding.signature) not in self._known:
                self._news.put(finding)


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
