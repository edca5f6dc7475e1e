"""The program: streams and signals in order, then the command line."""

import io
import logging
import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from types import FrameType

LEFT_BEHIND = ("agent",)  # the name of threads that agents run in


def main() -> None:
    """Run the command that was given and exit with its code."""
    try:
        _mend_streams()
        _hush()
        signal.signal(signal.SIGTERM, _leave)
        from misstep.cli import run  # as late as this, so that Ctrl-C is heard while it loads

        code = run(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # The reader of our output has gone; keep the interpreter from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    _forget_interrupts()
    _leave_threads_behind(code)
    sys.exit(code)


def _forget_interrupts() -> None:
    """Python ends as interrupted if the last text that was executed was, however well that was handled.

    Agents execute texts as well; this one ends quietly.
    """
    exec("")


def _leave_threads_behind(code: int) -> None:
    """Go at once where agents that could not be stopped still run: the interpreter would wait for them."""
    stuck = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    if any(not thread.daemon or thread.name in LEFT_BEHIND for thread in stuck):
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _mend_streams() -> None:
    """A closed stream swallows what it gets, a terminal that lacks a character gets a stand-in."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _hush() -> None:
    """What libraries and agents log or warn about is not news about the agent, unless asked for with -W."""
    logging.getLogger().addHandler(logging.NullHandler())
    if not sys.warnoptions:
        warnings.simplefilter("ignore")


def _leave(_: int, __: FrameType | None) -> None:
    """Go like after Ctrl-C: what is half-written is taken away on the way out."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
