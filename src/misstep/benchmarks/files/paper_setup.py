"""Runs setup scripts of the paper's tasks as a tool, so that they run in the tools' sandbox."""

import shutil
import tempfile

from misstep.benchmarks.files.programs import run_to_its_end

MOST_SAID = 500  # bytes at the end of a script's output
PATIENCE = 60.0  # seconds
SHELLS = ("bash", "sh")


def set_up(script: str) -> str:
    """Run a script which fills the current folder, and say what went wrong; nothing if all went well.

    Args:
        script: The text of the script. It is given "." as the folder to fill.
    """
    shell = next(filter(shutil.which, SHELLS), SHELLS[-1])
    with tempfile.TemporaryFile() as file:
        file.write(script.encode())
        file.seek(0)
        try:
            code, printed = run_to_its_end([shell, "-s", "--", "."], file, PATIENCE, _end)
        except TimeoutError as error:
            return f"it took {error}"
    said = printed.decode("utf-8", "backslashreplace").strip()
    return "" if not code else f"it ended with {code}: {said}" if said else f"it ended with {code}"


def _end(said: bytes) -> bytes:
    return said[-MOST_SAID:]


TOOLS = [set_up]
