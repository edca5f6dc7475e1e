"""The reports of a run."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

from misstep.core.event import Event, Listener, RunFinished, RunStarted
from misstep.core.settings import Report, Settings
from misstep.errors import StoreError, UsageError
from misstep.report.ndjson import NdjsonReport
from misstep.report.page import run_page
from misstep.store.files import write_text


@contextmanager
def make_reports(settings: Settings, stdout: BinaryIO) -> Iterator[list[Listener]]:
    """A listener for each report that was asked for."""
    if settings.report and settings.report_dir == "-" and settings.json:
        raise UsageError(
            "--json and a report can't both go to standard output", "name a folder with --report-dir"
        )
    if settings.report and settings.report_dir != "-":
        _make_folder(settings.report_dir)
    with ExitStack() as stack:
        known: dict[Report, Callable[[], Listener]] = {
            "html": lambda: _Page(settings, stdout),
            "ndjson": lambda: _Late(settings.report_dir, stdout, stack),
        }
        yield [known[kind]() for kind in settings.report]


def _make_folder(path: str) -> None:
    """Find out before the run starts whether its report can be written."""
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError("the report can't be written", reason, where=path) from error


class _Page:
    """A page that is written when its run has ended, by what is in the store then."""

    def __init__(self, settings: Settings, stdout: BinaryIO) -> None:
        self._settings = settings
        self._stdout = stdout

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunFinished):
            from misstep.api.findings import gather  # which a run without a page does not need

            path = _path(self._settings.report_dir, event.run, "html")
            page = run_page(gather(self._settings, event.run))
            if path == "-":
                self._stdout.write(page.encode())
            else:
                write_text(path, page)


class _Late:
    """A report that is opened when its run has a name."""

    def __init__(self, folder: str, stdout: BinaryIO, stack: ExitStack) -> None:
        self._folder = folder
        self._stdout = stdout
        self._stack = stack
        self._early = list[Event]()
        self._report: NdjsonReport | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            path = _path(self._folder, event.run, "ndjson")
            self._report = self._stack.enter_context(NdjsonReport(path, self._stdout))
            for earlier in self._early:
                self._report(earlier)
        if self._report:
            self._report(event)
        else:
            self._early.append(event)


def _path(folder: str, run: str, ending: str) -> str:
    return "-" if folder == "-" else os.path.join(folder, f"{run}.{ending}")
