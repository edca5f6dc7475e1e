"""The program: streams and signals in order, then the command line."""

import io
import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command that was given and exit with its code."""
    try:
        _mend_streams()
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
    sys.exit(code)


def _mend_streams() -> None:
    """A closed stream swallows what it gets, a terminal that lacks a character gets a stand-in."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _leave(number: int, _: FrameType | None) -> None:
    """Go like after Ctrl-C: what is half-written is taken away on the way out."""
    sys.exit(128 + number)


if __name__ == "__main__":
    main()
