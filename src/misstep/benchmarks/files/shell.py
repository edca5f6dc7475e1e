"""Runs shell commands: a tool for agents that prefer one, and the setup scripts of the paper's tasks."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from select import select
from time import monotonic
from typing import IO

MOST_SAID = 20_000  # bytes of a command's output
PATIENCE = 8.0  # seconds for a command; less than the usual time limit of a tool call
SETUP_SAID = 500  # bytes at the end of a script's output
SETUP_PATIENCE = 60.0  # seconds
SHELLS = ("bash", "sh")
CHUNK = 1 << 16  # bytes, the capacity of a pipe
LOOK = 0.05  # seconds between checks whether a silent program has ended


def run_command(command: str) -> str:
    """Run a command in a POSIX shell, in the current folder, and say what it prints.

    It is stopped if it takes longer than 8 seconds. What it leaves running in the background is stopped too.

    Args:
        command: The command line, such as "ls -l reports" or "mv a.txt b.txt".

    Returns:
        What the command has written to its output and its errors, and its exit code if that is not 0.
    """
    require_text(command=command)
    arguments = ["/bin/sh", "-c", command]
    try:
        code, said = _run(arguments, subprocess.DEVNULL, PATIENCE, lambda said: said[: MOST_SAID + 1])
    except TimeoutError as error:
        raise TimeoutError(f"the command took {error} and was stopped") from None
    text = said[:MOST_SAID].decode("utf-8", "backslashreplace")
    text += "\n… (more was printed)" if len(said) > MOST_SAID else ""
    return text if code == 0 else f"{text.rstrip()}\n(exit code {code})".lstrip()


def require_text(**given: object) -> None:
    """Raise TypeError for an argument that is not text; models pass all kinds of values."""
    for name, value in given.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} has to be a text, not {value!r:.100}")


def set_up(script: str) -> str:
    """Run a script which fills the current folder, and say what went wrong; nothing if all went well.

    It is called as a tool, so that the script runs in the tools' sandbox.

    Args:
        script: The text of the script. It is given "." as the folder to fill.
    """
    shell = next(filter(shutil.which, SHELLS), SHELLS[-1])
    with tempfile.TemporaryFile() as file:
        file.write(script.encode())
        file.seek(0)
        try:
            arguments = [shell, "-s", "--", "."]
            code, printed = _run(arguments, file, SETUP_PATIENCE, lambda said: said[-SETUP_SAID:])
        except TimeoutError as error:
            return f"it took {error}"
    said = printed.decode("utf-8", "backslashreplace").strip()
    return "" if not code else f"it ended with {code}: {said}" if said else f"it ended with {code}"


def _run(
    command: Sequence[str], stdin: "IO[bytes] | int", patience: float, kept: Callable[[bytes], bytes]
) -> tuple[int, bytes]:
    """Run a program until it ends, then kill the processes it has left running.

    Returns the exit code and the `kept` part of the output; `TimeoutError` after `patience` seconds.
    Background processes that keep the output open are not waited for.
    """
    with subprocess.Popen(
        command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        deadline = monotonic() + patience
        try:
            said = _hear(process, deadline, kept)
            return process.wait(max(0.0, deadline - monotonic())), said
        except (TimeoutError, subprocess.TimeoutExpired):
            raise TimeoutError(f"longer than {patience:g} seconds") from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


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
