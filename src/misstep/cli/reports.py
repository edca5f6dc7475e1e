"""The reports of a run that are written while it goes on."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

from misstep.core.event import Event, Listener, RunStarted
from misstep.core.settings import Settings
from misstep.errors import StoreError, UsageError
from misstep.report.ndjson import NdjsonReport


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
        yield [_Late(settings.report_dir, stdout, stack) for _ in settings.report]


def _make_folder(path: str) -> None:
    """Find out before the run starts whether its report can be written."""
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError("the report can't be written", reason, where=path) from error


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
            self._report = self._stack.enter_context(NdjsonReport(self._path(event.run), self._stdout))
            for earlier in self._early:
                self._report(earlier)
        if self._report:
            self._report(event)
        else:
            self._early.append(event)

    def _path(self, run: str) -> str:
        return "-" if self._folder == "-" else os.path.join(self._folder, f"{run}.ndjson")
