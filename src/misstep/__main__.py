"""Entry point: set up streams and signals, then run the command line."""

import io
import logging
import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from types import FrameType

LEFT_BEHIND = ("agent",)  # names of threads that agents run in


def main() -> None:
    """Run the command that was given and exit with its code."""
    try:
        _mend_streams()
        _hush()
        signal.signal(signal.SIGTERM, _leave)
        from misstep.cli import run  # imported late, so that Ctrl-C works while it loads

        code = run(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # The reader of our output is gone; keep the interpreter from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    # Python exits as interrupted if the last source text it executed was, even if that was handled. Agents
    # execute text too, so execute one here that ends normally.
    exec("")
    _leave_threads_behind(code)
    sys.exit(code)


def _leave_threads_behind(code: int) -> None:
    """Exit at once if agents that could not be stopped still run; the interpreter would wait for them."""
    stuck = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    if any(not thread.daemon or thread.name in LEFT_BEHIND for thread in stuck):
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _mend_streams() -> None:
    """Replace closed streams, and characters that the terminal cannot encode."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _hush() -> None:
    """Silence logs and warnings of libraries and agents, unless -W asks for them."""
    logging.getLogger().addHandler(logging.NullHandler())
    if not sys.warnoptions:
        warnings.simplefilter("ignore")


def _leave(_: int, __: FrameType | None) -> None:
    """Exit as after Ctrl-C, so that partial files are removed."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
