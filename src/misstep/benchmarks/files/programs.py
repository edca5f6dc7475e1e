"""Runs a program until it ends, then kills the processes it has left running."""

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from select import select
from time import monotonic
from typing import IO

CHUNK = 1 << 16  # bytes, the capacity of a pipe
LOOK = 0.05  # seconds between checks whether a silent program has ended


def run_to_its_end(
    command: Sequence[str], stdin: "IO[bytes] | int", patience: float, kept: Callable[[bytes], bytes]
) -> tuple[int, bytes]:
    """Returns the exit code and the `kept` part of the output; `TimeoutError` after `patience` seconds.

    Background processes that keep the output open are not waited for.
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
    """The output until the program ends or closes it."""
    said, ended = b"", False
    assert process.stdout is not None
    while not ended:
        ended = process.poll() is not None  # then all its output is in the pipe
        if select([process.stdout], [], [], 0.0 if ended else LOOK)[0]:
            part = os.read(process.stdout.fileno(), CHUNK)
            if not part:
                break
            said = kept(said + part)
        if not ended and monotonic() > deadline:
            raise TimeoutError
    return said


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill everything of it that still runs."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    finally:
        process.wait()
        if process.stdout:
            process.stdout.close()
