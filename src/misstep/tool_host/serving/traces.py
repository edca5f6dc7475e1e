"""Finds out where a process was when it hung or broke off, without its help."""

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

LONGEST = 1 << 18  # bytes that are read of it
MOST_FRAMES = 40
PATIENCE = 1.0  # seconds
PAUSE = 0.01
ASKING = getattr(signal, "SIGRTMAX", signal.SIGUSR2)
_FRAME = re.compile(r'  File "(?P<file>.*)", line (?P<line>\d+|\?\?\?) in (?P<function>.*)')
_THREAD = re.compile(r"(Current thread|Thread|Stack) ")


class CrashTraces:
    """A file that the interpreter writes its stack to when it breaks down, or when it is asked to.

    It is asked by a signal, and answers in the midst of whatever it does. To look at a stack while it changes
    would be the end of the process, so that is done only to one that is about to end.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  (open as long as the process lives)

    def begin(self) -> None:
        """In the process that is to be watched."""
        os.ftruncate(self._file.fileno(), 0)
        os.lseek(self._file.fileno(), 0, os.SEEK_SET)
        faulthandler.enable(self._file)
        faulthandler.register(ASKING, self._file)

    def ask(self, process: int) -> None:
        """Have it written where a process is, and wait until it is, though not for long."""
        until, size = time.monotonic() + PATIENCE, 0
        with suppress(ProcessLookupError):
            os.kill(process, ASKING)
        while time.monotonic() < until:
            time.sleep(PAUSE)
            before, size = size, os.fstat(self._file.fileno()).st_size
            if 0 < size == before:
                return

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
