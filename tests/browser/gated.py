"""A run in a process of its own, whose cases end when a test lets them."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

AGENT = """
import pathlib, time
HERE = pathlib.Path(__file__).parent

def agent(request, tools):
    number = len(list(HERE.glob("begun-*")))
    (HERE / f"begun-{number}").touch()
    while not (HERE / f"go-{number}").exists():
        time.sleep(0.02)
    for tool in tools:
        tool()
    return "done"
"""


class Gated:
    def __init__(self, folder: Path, process: "subprocess.Popen[bytes]") -> None:
        self._folder, self.process, self._next = folder, process, 0

    def let(self, cases: int) -> None:
        """So many more cases may end."""
        for number in range(self._next, self._next + cases):
            (self._folder / f"go-{number}").touch()
        self._next += cases


@contextmanager
def gated_run(folder: Path, store: str, count: int) -> Iterator[Gated]:
    """It has begun its first case when this begins."""
    (folder / "gated.py").write_text(AGENT)
    agent = ("--agent", f"{folder / 'gated.py'}:agent", "--count", str(count), "--jobs", "1", "--seed", "1")
    command = [sys.executable, "-m", "misstep", "plan", "test", *agent, "--store", store, "--display", "none"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        run = Gated(folder, process)
        try:
            while not (folder / "begun-0").exists():
                assert process.poll() is None
                time.sleep(0.05)
            yield run
        finally:
            run.let(count)
