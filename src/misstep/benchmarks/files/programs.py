"""Runs a program until it ends, and ends with it whatever it has left running."""

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from select import select
from time import monotonic
from typing import IO

CHUNK = 1 << 16  # bytes, as many as a pipe holds
LOOK = 0.05  # seconds after which somebody looks whether a program that says nothing has ended


def run_to_its_end(
    command: Sequence[str], stdin: "IO[bytes] | int", patience: float, kept: Callable[[bytes], bytes]
) -> tuple[int, bytes]:
    """The exit code, and what is `kept` of all that was printed; a `TimeoutError` after so many seconds.

    What it began and left running holds its output open, and is not waited for.
    """
    process = subprocess.Popen(
        command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    deadline = monotonic() + patience
    try:
        said = _hear(process, deadline, kept)
        return process.wait(max(0.0, deadline - monotonic())), said
    except (TimeoutError, subprocess.TimeoutExpired):
        raise TimeoutError(f"longer than {patience:g} seconds") from None
    finally:
        _end(process)


def _hear(process: "subprocess.Popen[bytes]", deadline: float, kept: Callable[[bytes], bytes]) -> bytes:
    """What is printed until the program ends or closes its output."""
    said, ended = b"", False
    assert process.stdout is not None
    while not ended:
        ended = process.poll() is not None  # then all that it has printed is in the pipe
        if select([process.stdout], [], [], 0.0 if ended else LOOK)[0]:
            part = os.read(process.stdout.fileno(), CHUNK)
            if not part:
                break
            said = kept(said + part)
        if not ended and monotonic() > deadline:
            raise TimeoutError
    return said


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Stop whatever of it still runs."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    finally:
        process.wait()
        if process.stdout:
            process.stdout.close()
