"""Runs set-up scripts, as a tool, so that they are run where tools are: in a sandbox."""

import shutil
import subprocess

MOST_SAID = 500  # characters of what a script prints
PATIENCE = 60.0  # seconds
SHELLS = ("bash", "sh")


def set_up(script: str) -> str:
    """Run a script which fills the current folder, and say what went wrong; nothing if all went well.

    Args:
        script: The text of the script. It is given "." as the folder to fill.
    """
    shell = next(filter(shutil.which, SHELLS), SHELLS[-1])
    try:
        ended = subprocess.run(
            [shell, "-s", "--", "."],
            input=script.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {PATIENCE:g} seconds"
    if not ended.returncode:
        return ""
    said = ended.stdout.decode("utf-8", "backslashreplace").strip()[-MOST_SAID:]
    return f"it ended with {ended.returncode}: {said}" if said else f"it ended with {ended.returncode}"


TOOLS = [set_up]
