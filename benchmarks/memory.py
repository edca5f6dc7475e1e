"""Measures whether a long run needs more memory than a short one."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator

from benchmarks.measure import Effort, Mark, Row

FEW, MANY = 1000, 100_000

RUN = """
import sys
from misstep.features.plan_test.run import run_agent
from misstep.core.settings import Settings
run_agent(Settings(agent="sim:perfect", count=int(sys.argv[1]), cases=sys.argv[2], store=sys.argv[3]))
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def memory_rows(effort: Effort) -> Iterator[Row]:
    many = effort.size(MANY) if effort.scale >= 1 else 5 * FEW
    with tempfile.TemporaryDirectory() as folder:
        few_kb, many_kb = _peak(FEW, folder), _peak(many, folder)
        few_read, many_read = (_peak(count, folder, _write_cases(count, folder)) for count in (FEW, many))
    peak = f"peak resident memory of a fresh process, sim:perfect, {many:,} cases against {FEW:,}"
    yield Row("memory of a long run", many_kb / 1000, "MB", peak)
    yield Row("… ÷ that of a short one", many_kb / few_kb, "×", "the same", Mark("≤", 1.1))
    yield Row("… with cases from a file", many_read / few_read, "×", "the same with --cases", Mark("≤", 1.1))


def _peak(count: int, folder: str, cases: str = "") -> int:
    """Kilobytes."""
    store = f"{folder}/{count}{'-read' if cases else ''}.db"
    command = [sys.executable, "-c", RUN, str(count), cases, store]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _write_cases(count: int, folder: str) -> str:
    path = f"{folder}/{count}.jsonl"
    command = [sys.executable, "-m", "misstep", "plan", "synth", "--count", str(count), "--out", path]
    subprocess.run(command, check=True, capture_output=True)
    return path
