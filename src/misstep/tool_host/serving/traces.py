"""Finds out where a process was when it hung or crashed, without its cooperation."""

import faulthandler
import os
import re
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress

from misstep.core.outcome import storable
from misstep.core.text import is_ours
from misstep.core.tool import Frame

LONGEST = 1 << 18  # bytes that are read
MOST_FRAMES = 40
PATIENCE = 1.0  # seconds
PAUSE = 0.01
ASKING = getattr(signal, "SIGRTMAX", signal.SIGUSR2)
_FRAME = re.compile(r'  File "(?P<file>.*)", line (?P<line>\d+|\?\?\?) in (?P<function>.*)')
_THREAD = re.compile(r"(Current thread|Thread|Stack) ")


class CrashTraces:
    """A file that the interpreter writes its stack to when it crashes, or on a signal.

    The signal interrupts the process wherever it is. Reading a stack while it changes could crash the
    process, so the signal is sent only to one that is about to be ended.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  (open as long as the process lives)

    def begin(self) -> None:
        """To be called in the process that is watched."""
        os.ftruncate(self._file.fileno(), 0)
        os.lseek(self._file.fileno(), 0, os.SEEK_SET)
        faulthandler.enable(self._file)
        faulthandler.register(ASKING, self._file)

    def ask(self, process: int) -> None:
        """Make the process write its stack, and wait briefly until it has."""
        until, size = time.monotonic() + PATIENCE, 0
        with suppress(ProcessLookupError):
            os.kill(process, ASKING)
        while time.monotonic() < until:
            time.sleep(PAUSE)
            before, size = size, os.fstat(self._file.fileno()).st_size
            if 0 < size == before:
                return

    def read(self, owns: Callable[[str], bool]) -> tuple[Frame, ...]:
        """The frames written, innermost last; works in any process that shares the file.

        They belong to a thread that runs the tool's own code, preferably the main thread.
        """
        text = os.pread(self._file.fileno(), LONGEST, 0).decode("utf-8", "replace")
        threads = [_frames(part, owns) for part in _split(text)]
        return next((frames for frames in reversed(threads) if any(frame.own for frame in frames)), ())


def _split(text: str) -> list[list[str]]:
    """The lines of each thread, in the order of the dump, in which the main thread comes last."""
    parts: list[list[str]] = [[]]
    for line in text.splitlines():
        if _THREAD.match(line):
            parts.append([])
        parts[-1].append(line)
    return parts


def _frames(lines: list[str], owns: Callable[[str], bool]) -> tuple[Frame, ...]:
    matches = map(_FRAME.fullmatch, lines)
    found = [match for match in matches if match and not is_ours(match["file"])]
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
