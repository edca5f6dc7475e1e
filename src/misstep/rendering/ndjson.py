"""Writes the events of a run as JSON lines."""

import os
from contextlib import suppress
from typing import BinaryIO

import msgspec

from misstep.core.event import Event, Spending
from misstep.errors import StoreError


class NdjsonReport:
    """A listener that writes each event, except spending, as one line and flushes it.

    Lines are appended, so that a resumed run continues in the same file; a line that was cut when a run was
    killed is ended first. The path `-` means `stdout`. A write error is reported once.
    """

    def __init__(self, path: str, stdout: BinaryIO | None = None) -> None:
        self._path = path
        self._stdout = stdout
        self._file: BinaryIO | None = None

    def __enter__(self) -> "NdjsonReport":
        if self._path == "-":
            assert self._stdout is not None
            self._file = self._stdout
            return self
        try:
            torn = _is_torn(self._path)
            self._file = open(self._path, "ab")
            if torn:
                self._file.write(b"\n")
        except OSError as error:
            raise self._failed(error) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._file and self._file is not self._stdout:
            with suppress(OSError):  # already reported, and every line is flushed
                self._file.close()
        self._file = None

    def __call__(self, event: Event) -> None:
        if self._file is None or isinstance(event, Spending):
            return
        try:
            self._file.write(msgspec.json.encode(event) + b"\n")
            self._file.flush()
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> StoreError:
        self.__exit__()
        where = "standard output" if self._path == "-" else self._path
        return StoreError("the report can't be written", error.strerror or str(error), where=where)


def _is_torn(path: str) -> bool:
    if not os.path.isfile(path) or not os.path.getsize(path):
        return False
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"
