"""The tests in `cluster_tests.py`, in a process of their own.

Ray joins the process that uses it to the cluster. Where other tests have been in that process for long, it now
and then can no longer be reached there, and a cluster that does not reach its driver ends all that the driver
has started.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_cases_on_a_cluster() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/engine/cluster_tests.py"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
