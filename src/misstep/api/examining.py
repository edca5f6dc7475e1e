"""Examinations of tools side by side, each in a thread with a workbench to itself."""

import signal
import sys
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import TypeAlias

from misstep.api.allowance import Allowance
from misstep.api.targets import Target
from misstep.api.workbenches import Workbenches
from misstep.core.dice import derive_seed
from misstep.core.finding import Finding, ToolReport
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.tooling.examination import STRETCH, Ended, Examination
from misstep.workshop.process import Process

BETWEEN = 10.0  # seconds between two reports on the way, so that a killed run loses no more
TRIAGE = 0.25  # of the time for a tool, beside that, to confirm what was found and make it small
LEAST_TRIAGE = 30.0  # seconds

Left: TypeAlias = tuple[Target, ToolReport | None]
News: TypeAlias = Finding | ToolReport


class Examiners:
    """Works through targets, as many at a time as the settings say.

    Whatever is found is told at once, unconfirmed; reports on the way say that they are of something stopped.
    `known` are findings that are no news any more.
    """

    def __init__(
        self, benches: Workbenches, settings: Settings, allowance: Allowance, known: Iterable[Finding] = ()
    ) -> None:
        self._benches = benches
        self._settings = settings
        self._allowance = allowance
        self._news = SimpleQueue[News | BaseException | None]()
        self._known = {_mark(finding) for finding in known}
        self._lock = threading.Lock()

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
        count = min(self._settings.jobs, len(targets))
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
                self._examine(*waiting.get_nowait())
        except Empty:
            pass  # others have taken the rest
        except BaseException as error:
            self._news.put(error)
        finally:
            self._news.put(None)

    def _examine(self, target: Target, before: ToolReport | None) -> None:
        seed = derive_seed(self._settings.seed, *target.tools, before.calls if before else 0)
        with self._benches.lend(target.spec) as bench:
            bench.heed(self._allowance.is_over)
            tools = [tool for tool in bench.tools if tool.name in target.tools]
            if len(tools) < len(target.tools):
                raise UsageError("its tools are not the same each time it is started", where=target.spec)
            notes = _notes(bench) if target.tools == (bench.tools[0].name,) else ()  # once is enough
            blank = ToolReport(target.name, 0, place=target.place, sandbox=bench.sandbox.words, notes=notes)
            examination = Examination(bench, tools, target.spec, seed, before or blank)
            ended: Ended = "stopped"
            try:
                ended = self._fuzz(examination)
                if ended != "stopped" and not self._settle(examination, target.spec):
                    ended = "stopped"
            finally:  # what was found is kept, also where the tools can't be loaded again
                self._news.put(self._noted(examination.report(ended)))

    def _settle(self, examination: Examination, spec: str) -> bool:
        with self._lock:
            known = [(tool, signature) for where, tool, signature in self._known if where == spec]
        seconds = max(LEAST_TRIAGE, self._settings.time_per_tool * TRIAGE)
        return examination.settle(known, self._allowance.is_over, seconds)

    def _noted(self, report: ToolReport) -> ToolReport:
        with self._lock:
            self._known |= {_mark(finding) for finding in report.findings}
        return report

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
                return "stopped" if self._allowance.is_over() else "exhausted"
            if time.monotonic() - told > BETWEEN:
                told = time.monotonic()
                self._news.put(examination.report("stopped"))
        return "stopped" if self._allowance.is_over() else "time"

    def _tell(self, examination: Examination) -> None:
        for finding in examination.news():
            if _mark(finding) not in self._known:
                self._news.put(finding)


def _notes(bench: Process) -> tuple[str, ...]:
    """What was odd about loading the tools."""
    return (*(f"left out: {each}" for each in bench.skipped), *bench.notes)


def _mark(finding: Finding) -> tuple[str, str, str]:
    """What findings have in common that are the same defect."""
    return finding.spec, finding.tool, finding.signature


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
