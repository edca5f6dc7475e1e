"""A shell as a tool, for agents that prefer one."""

import subprocess

from misstep.benchmarks.files.programs import run_to_its_end

MOST_SAID = 20_000  # bytes of a command's output
PATIENCE = 8.0  # seconds for a command; less than the usual time limit of a tool call


def run_command(command: str) -> str:
    """Run a command in a POSIX shell, in the current folder, and say what it prints.

    It is stopped if it takes longer than 8 seconds. What it leaves running in the background is stopped too.

    Args:
        command: The command line, such as "ls -l reports" or "mv a.txt b.txt".

    Returns:
        What the command has written to its output and its errors, and its exit code if that is not 0.
    """
    require_text(command=command)
    try:
        code, said = run_to_its_end(["/bin/sh", "-c", command], subprocess.DEVNULL, PATIENCE, _beginning)
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


def _beginning(said: bytes) -> bytes:
    return said[: MOST_SAID + 1]
