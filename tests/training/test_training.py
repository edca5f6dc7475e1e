"""The recipe in `training/` has tests of its own, in an environment with PyTorch."""

import os
import subprocess
from pathlib import Path

import pytest

from misstep.models.local.model import locate_weights
from tests.conformance.subject_subprocess import find_python

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
PYTHON = find_python("TEST_TRAINING_PYTHON", ".venv-training")


@pytest.mark.skipif(not PYTHON, reason="training needs TEST_TRAINING_PYTHON or .venv-training")
def test_the_recipe() -> None:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "OMP_NUM_THREADS": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    if subprocess.run([PYTHON, "-c", "import torch"], env=environment, capture_output=True).returncode:
        pytest.skip("PyTorch does not work here")
    command = [
        PYTHON,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        "training",
    ]
    done = subprocess.run(
        [*command, "training/tests", "--weights", locate_weights()],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
