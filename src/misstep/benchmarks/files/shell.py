"""A shell as a tool, for agents that would rather have one."""

import os
import signal
import subprocess
from select import select
from time import monotonic

MOST_SAID = 20_000  # bytes of what a command prints
PATIENCE = 8.0  # seconds for a command; less than what a call of a tool is usually given
_CHUNK = 1 << 16


def run_command(command: str) -> str:
    """Run a command in a POSIX shell, in the current folder, and say what it prints.

    It is stopped if it takes longer than 8 seconds.

    Args:
        command: The command line, such as "ls -l reports" or "mv a.txt b.txt".

    Returns:
        What the command has written to its output and its errors, and its exit code if that is not 0.
    """
    process = subprocess.Popen(
        ["/bin/sh", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said = _hear(process, monotonic() + PATIENCE)
        code = process.wait()
    finally:
        _end(process)
    text = said[:MOST_SAID].decode("utf-8", "backslashreplace")
    text += "\n… (more was printed)" if len(said) > MOST_SAID else ""
    return text if code == 0 else f"{text.rstrip()}\n(exit code {code})".lstrip()


def _hear(process: "subprocess.Popen[bytes]", deadline: float) -> bytes:
    """The beginning of what is printed; the rest is read as well, so that the command isn't kept waiting."""
    said = b""
    assert process.stdout is not None
    while select([process.stdout], [], [], max(0.0, deadline - monotonic()))[0]:
        part = os.read(process.stdout.fileno(), _CHUNK)
        if not part:
            return said
        said = (said + part)[: MOST_SAID + 1]
        if monotonic() > deadline:
            break
    raise TimeoutError(f"the command took longer than {PATIENCE:g} seconds and was stopped")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Stop whatever of the command still runs."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    finally:
        process.wait()
        if process.stdout:
            process.stdout.close()
