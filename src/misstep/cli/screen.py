"""The real standard streams of the process while agents print."""

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

SHOWN = 1 << 16  # bytes of what agents print in one run
LINE = 4_000  # bytes without a line break that are taken for a line
CHUNK = 1 << 16
PAUSE = 0.001  # seconds between two looks at what is left out: whoever prints so much needs the processor
PARTING = 2.0  # seconds for what has been printed to be shown at the end


class Screen(io.TextIOWrapper):
    """The real standard error, beside the real `stdout`.

    `show` is how a line of an agent's gets there; whoever draws on the screen may put something in its place.
    """

    def __init__(self, error: int, output: int, encoding: str) -> None:
        super().__init__(os.fdopen(error, "wb"), encoding, errors="replace", line_buffering=True)
        self.stdout: BinaryIO = os.fdopen(output, "wb")
        self.show: Callable[[str], None] = self.show_below

    def show_below(self, line: str) -> None:
        self.write(f"{line}\n")

    def close(self) -> None:
        for close in (self.stdout.close, super().close):
            with suppress(OSError):  # nobody watches
                close()


class Drain:
    """Reads what comes into `sink` for ever, so that no agent ever waits, and shows the beginning of it."""

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
        """Show what has come so far and what there is to say about the rest, then nothing any more.

        Nobody has to close the sink for that: processes that agents have left behind hold on to it. If it
        `goes_on`, what comes later is read and thrown away.
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
        """Read until it is over and there is nothing more to read."""
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
            self._say("(the agent printed more than that; the rest is left out)")
        self._left_out += size

    def _conclude(self) -> None:
        if self._rest:
            self._show(self._rest)
        if self._left_out:
            self._say(f"({_size(self._left_out)} of the agent's output left out)")
        with suppress(OSError, ValueError):
            self._screen.flush()

    def _say(self, line: str) -> None:
        if not self._is_over:
            with suppress(Exception):  # the agent goes on though nobody watches
                self._screen.show(line)


def _readable(line: bytes) -> str:
    """A line as a terminal would leave it, made harmless and without secrets."""
    text = line.decode(errors="replace").rstrip("\r").rpartition("\r")[2]
    return plain(Redactor(known_secrets())(text).expandtabs(), LINE)


def _size(size: float) -> str:
    if size < 1000:
        return f"{size:.0f} bytes"
    return f"{size / 1e3:.1f} KB" if size < 1e6 else f"{size / 1e6:,.1f} MB"


class Sink(io.RawIOBase):
    """The end of a drain that agents write to. They share it with us, and can't close it."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: Any, /) -> int:
        return os.write(self._descriptor, data)

    def close(self) -> None:
        refuse_closing()

    def __del__(self) -> None:
        """Nothing to do: it is closed by whoever opened it."""


class Led:
    """A stream that leads to `theirs`; where there is one of `ours`, the main thread gets that.

    Nobody can close it: closing ends the case of the agent that tries to.
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
    """Standard output and error of the process, led into a drain until it is ended."""

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
        self._theirs = io.TextIOWrapper(raw, "utf-8", errors="backslashreplace", write_through=True)
        self._led = Led(self._theirs)
        self._originals = {"__stdout__": sys.__stdout__, "__stderr__": sys.__stderr__}
        sys.stdout = sys.stderr = cast(TextIO, self._led)
        vars(sys).update(__stdout__=sys.stdout, __stderr__=sys.stderr)

    def end(self) -> None:
        """Everything is as it was before."""
        _flush(*self._streams)
        sys.stdout, sys.stderr = self._streams
        vars(sys).update(self._originals)
        self._led.theirs = sys.stderr  # for those who have kept it, such as loggers
        for number, saved in enumerate(self._saved, 1):
            os.dup2(saved, number)
            os.close(saved)
        self._drain.finish(goes_on=False)
        os.close(self._drain.sink)
        self._end_telling()
        self.screen.close()

    def end_for_us(self) -> None:
        """The main thread has its streams back. Whatever else runs keeps printing into the drain."""
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
    except OSError:  # it is closed
        return os.open(os.devnull, os.O_WRONLY)


def _flush(*streams: TextIO) -> None:
    for stream in streams:
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()
