"""Places for tasks on the forge."""

import os
import signal
import subprocess
import sys
from pathlib import Path

DYING = """
import os, signal
from misstep.features.bench.suites import ForgeBenchmark
with ForgeBenchmark([]).open():
    os.kill(os.getpid(), signal.SIGKILL)
"""
SWEEPING = "from misstep.tool_host.sandbox.scratch_dir import sweep; sweep()"


def test_whoever_is_killed_leaves_nothing_that_the_next_one_does_not_remove(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    around = {**os.environ, "TMPDIR": str(temporary)}
    dead = subprocess.run([sys.executable, "-c", DYING], env=around, check=False)
    assert dead.returncode == -signal.SIGKILL
    assert len(list(temporary.iterdir())) == 1
    subprocess.run([sys.executable, "-c", SWEEPING], env=around, check=True)
    assert list(temporary.iterdir()) == []
