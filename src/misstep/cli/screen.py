"""Keeps the real standard streams of the process while agents print to others."""

import faulthandler
import io
import os
import selectors
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, TextIO, cast

from misstep.core.secrets import Redactor
from misstep.core.surroundings import refuse_closing
from misstep.rendering.text import plain
from misstep.runs.execution import known_secrets

SHOWN = 1 << 16  # bytes of agent output per run
LINE = 4_000  # bytes without a line break that are treated as a line
CHUNK = 1 << 16
PAUSE = 0.001  # seconds between two reads of discarded output: who prints that much needs the processor
PARTING = 2.0  # seconds to show the remaining output at the end


class Screen(io.TextIOWrapper):
    """The real standard error, with the real `stdout`.

    `show` prints a line of an agent; a display that draws on the screen may replace it.
    """

    def __init__(self, error: int, output: int, encoding: str) -> None:
        super().__init__(os.fdopen(error, "wb"), encoding, errors="replace", line_buffering=True)
        self.stdout: BinaryIO = os.fdopen(output, "wb")
        self.show: Callable[[str], None] = self.show_below

    def show_below(self, line: str) -> None:
        self.write(f"{line}\n")

    def close(self) -> None:
        for close in (self.stdout.close, super().close):
            with suppress(OSError):  # nobody reads it
                close()


class Drain:
    """Reads everything written to `sink`, so that no agent blocks, and shows the beginning of it."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._source, self.sink = os.pipe()
        self._waking, self._bell = os.pipe()
        self._rest = b""
        self._shown = 0
        self._left_out = 0
        self._goes_on = False
        self._is_over = False
        self._thread = threading.Thread(target=self._run, name="drain", daemon=True)
        self._thread.start()

    def finish(self, goes_on: bool) -> None:
        """Show what was read so far and how much was left out, then nothing more.

        The sink need not be closed: processes that agents left running may hold it open. If it `goes_on`,
        later output is read and discarded.
        """
        self._goes_on = goes_on
        os.write(self._bell, b"!")
        self._thread.join(PARTING)
        self._is_over = True

    def _run(self) -> None:
        self._read()
        self._conclude()
        while self._goes_on and os.read(self._source, CHUNK):
            pass
        for number in (self._source, self._waking, self._bell):
            os.close(number)

    def _read(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._source, selectors.EVENT_READ)
            selector.register(self._waking, selectors.EVENT_READ)
            while True:
                ready = {key.fd for key, _ in selector.select()}
                data = os.read(self._source, CHUNK) if self._source in ready else b""
                if not data:
                    return
                self._take(data)

    def _take(self, data: bytes) -> None:
        if self._shown >= SHOWN:
            self._leave_out(len(data))
            time.sleep(PAUSE)
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LINE:
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            self._show(line)

    def _show(self, line: bytes) -> None:
        room = SHOWN - self._shown
        self._shown += len(line) + 1
        if room > 0:
            self._say(_readable(line)[:room])
        if len(line) > room:
            self._leave_out(len(line) - max(room, 0))

    def _leave_out(self, size: int) -> None:
        if not self._left_out:
            self._say("(the rest of the agent's output is omitted)")
        self._left_out += size

    def _conclude(self) -> None:
        if self._rest:
            self._show(self._rest)
        if self._left_out:
            self._say(f"({_size(self._left_out)} of the agent's output omitted)")
        with suppress(OSError, ValueError):
            self._screen.flush()

    def _say(self, line: str) -> None:
        if not self._is_over:
            with suppress(Exception):  # the agent continues if nobody reads this
                self._screen.show(line)


def _readable(line: bytes) -> str:
    """A line as a terminal would show it, escaped and without secrets."""
    text = line.decode(errors="replace").rstrip("\r").rpartition("\r")[2]
    return plain(Redactor(known_secrets())(text).expandtabs(), LINE)


def _size(size: float) -> str:
    if size < 1000:
        return f"{size:.0f} bytes"
    return f"{size / 1e3:.1f} KB" if size < 1e6 else f"{size / 1e6:,.1f} MB"


class Sink(io.FileIO):
    """The end of a drain that agents write to. Agents share it with us, and can't close it."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)

    def close(self) -> None:
        refuse_closing()

    def __del__(self) -> None:
        """Do nothing: whoever opened it closes it."""


class SinkText(io.TextIOWrapper):
    """Text for a sink."""

    def __del__(self) -> None:
        """Do nothing: closing the sink is refused, and Python 3.13 and newer would report that."""


class Led:
    """A stream that writes to `theirs`; the main thread writes to `ours`, if there is one.

    It cannot be closed: closing it ends the case of the agent that tries.
    """

    def __init__(self, theirs: TextIO, ours: TextIO | None = None) -> None:
        self.theirs = theirs
        self.ours = ours

    def __getattr__(self, name: str) -> Any:
        main = self.ours and threading.current_thread() is threading.main_thread()
        return getattr(self.ours if main else self.theirs, name)

    def close(self) -> None:
        refuse_closing()

    def detach(self) -> None:
        refuse_closing()


class Diversion:
    """Redirects standard output and error of the process into a drain until it is ended."""

    def __init__(self) -> None:
        self._streams = sys.stdout, sys.stderr
        _flush(*self._streams)
        real = [_copy(_number(stream, number)) for number, stream in enumerate(self._streams, 1)]
        self.screen = Screen(real[1], real[0], getattr(sys.stderr, "encoding", None) or "utf-8")
        self._tells_crashes = not faulthandler.is_enabled()
        if self._tells_crashes:
            faulthandler.enable(self.screen)
        self._saved = [_copy(1), _copy(2)]
        self._drain = Drain(self.screen)
        for number in (1, 2):
            os.dup2(self._drain.sink, number)
        raw = cast(BinaryIO, Sink(self._drain.sink))
        self._theirs = SinkText(raw, "utf-8", errors="backslashreplace", write_through=True)
        self._led = Led(self._theirs)
        self._originals = {"__stdout__": sys.__stdout__, "__stderr__": sys.__stderr__}
        sys.stdout = sys.stderr = cast(TextIO, self._led)
        vars(sys).update(__stdout__=sys.stdout, __stderr__=sys.stderr)

    def end(self) -> None:
        _flush(*self._streams)
        sys.stdout, sys.stderr = self._streams
        vars(sys).update(self._originals)
        self._led.theirs = sys.stderr  # for objects that keep a reference, such as loggers
        for number, saved in enumerate(self._saved, 1):
            os.dup2(saved, number)
            os.close(saved)
        self._drain.finish(goes_on=False)
        os.close(self._drain.sink)
        self._end_telling()
        self.screen.close()

    def end_for_us(self) -> None:
        """Give the main thread its streams back. Other threads still print into the drain."""
        _flush(*self._streams)
        self._drain.finish(goes_on=True)
        self._end_telling()
        output = io.TextIOWrapper(self.screen.stdout, self.screen.encoding, errors="replace")
        sys.stdout = cast(TextIO, Led(self._theirs, output))
        sys.stderr = cast(TextIO, Led(self._theirs, self.screen))

    def _end_telling(self) -> None:
        if self._tells_crashes:
            faulthandler.disable()


def _number(stream: TextIO, usual: int) -> int:
    try:
        return stream.fileno()
    except (AttributeError, OSError, ValueError):
        return usual


def _copy(number: int) -> int:
    try:
        return os.dup(number)
    except OSError:  # already closed
        return os.open(os.devnull, os.O_WRONLY)


def _flush(*streams: TextIO) -> None:
    for stream in streams:
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()
