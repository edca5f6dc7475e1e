"""Measures the cost of short commands: CPU time beyond that of a bare interpreter."""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Effort, Mark, Row

TOOL = '''
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b
'''
TEST = ("plan", "test", "--agent", "sim:perfect", "--count", "1", "--json")
FUZZ = ("tool", "fuzz", "tool.py:add", "--calls-per-tool", "100", "--json")


def startup_rows(effort: Effort) -> Iterator[Row]:
    times = effort.times(10)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tool.py").write_text(TOOL)
        bare = _seconds(times, folder, "-c", "pass")
        shown, tested, fuzzed = (
            _seconds(times, folder, "-m", "misstep", *command) - bare for command in (("--help",), TEST, FUZZ)
        )
    how = f"processor time of a fresh process and its children, less {bare:.3f} s of a bare interpreter"
    yield Row("`misstep --help`", shown, "s", how, Mark("≤", 0.15))
    yield Row("`plan test` of one simulated case", tested, "s", how, Mark("≤", 0.5))
    yield Row("`tool fuzz` of one function, 100 calls", fuzzed, "s", how, Mark("≤", 1.5))


def _seconds(times: int, folder: str, *command: str) -> float:
    """The minimum over several processes."""
    return min(_once(folder, *command) for _ in range(times))


def _once(folder: str, *command: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
