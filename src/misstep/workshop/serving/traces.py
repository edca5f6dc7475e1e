"""Finds out where a process was when it hung or broke off, without its help."""

import faulthandler
import os
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from misstep.core.tool import Frame
from misstep.core.transcript import storable

LONGEST = 1 << 18  # bytes that are read of it
MOST_FRAMES = 40
_FRAME = re.compile(r'  File "(?P<file>.*)", line (?P<line>\d+|\?\?\?) in (?P<function>.*)')
_OURS = str(Path(__file__).parents[2])
_THREAD = re.compile(r"(Current thread|Thread|Stack) ")


class Traces:
    """A file that the interpreter writes its stack to when it breaks down, or when a call takes too long."""

    def __init__(self, timeout: float) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  (open as long as the process lives)
        self._timeout = timeout
        self._period = min(1.0, timeout / 4)
        self._next = 0.0

    def begin(self) -> None:
        """In the process that is to be watched."""
        faulthandler.enable(self._file)
        self.expect(time.monotonic())

    def expect(self, now: float) -> bool:
        """A call begins. The alarm is set now and then only: it goes off a little early rather than late."""
        if now < self._next:
            return False
        self._next = now + self._period
        os.ftruncate(self._file.fileno(), 0)
        os.lseek(self._file.fileno(), 0, os.SEEK_SET)
        faulthandler.dump_traceback_later(self._timeout, file=self._file)
        return True

    def read(self, owns: Callable[[str], bool]) -> tuple[Frame, ...]:
        """From any process that shares the file: the frames that were written, the innermost last.

        They are those of a thread that runs the tool's own code, if there is one: of the main one rather
        than of another.
        """
        text = os.pread(self._file.fileno(), LONGEST, 0).decode("utf-8", "replace")
        threads = [_frames(part, owns) for part in _split(text)]
        return next((frames for frames in reversed(threads) if any(frame.own for frame in frames)), ())


def _split(text: str) -> list[list[str]]:
    """The lines of each thread, in the order of the dump, where the main thread comes last."""
    parts: list[list[str]] = [[]]
    for line in text.splitlines():
        if _THREAD.match(line):
            parts.append([])
        parts[-1].append(line)
    return parts


def _frames(lines: list[str], owns: Callable[[str], bool]) -> tuple[Frame, ...]:
    matches = map(_FRAME.fullmatch, lines)
    found = [match for match in matches if match and not match["file"].startswith(_OURS)]
    frames = [
        Frame(
            storable(match["file"]),
            int(match["line"]) if match["line"].isdigit() else 0,
            storable(match["function"]),
            owns(match["file"]),
        )
        for match in reversed(found)
    ]
    first = next((place for place, frame in enumerate(frames) if frame.own), 0)
    return tuple(frames[first:][-MOST_FRAMES:])
