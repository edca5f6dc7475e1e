"""Progress in a notebook, seen by a client of a real kernel."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from misstep.testing.notebook import notebook_listeners
from tests.conformance.subject_subprocess import find_python

PYTHON = find_python("TEST_NOTEBOOK_PYTHON", ".venv-notebook")
needs_notebook = pytest.mark.skipif(
    not PYTHON, reason="notebooks need TEST_NOTEBOOK_PYTHON or .venv-notebook"
)
ROOT = Path(__file__).parents[2]
CELL = """
import time
import misstep

def agent(request, tools):
    time.sleep(0.4)
    return "nothing"

result = misstep.test_planning(agent, count=8, jobs=2)
result
"""


def displayed(cell: str, folder: Path) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "JUPYTER_RUNTIME_DIR": str(folder)}
    done = subprocess.run(
        [PYTHON, ROOT / "tests" / "testing" / "notebook_run.py"],
        input=cell,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.full
@needs_notebook
def test_progress_is_shown_while_a_test_runs_and_then_the_result(tmp_path: Path) -> None:
    found = displayed(CELL, tmp_path)
    first, *updates = found["seen"]
    assert first[0] == "display_data"
    assert 'max="8" value="0"' in first[1]
    assert {kind for kind, _ in updates} == {"update_display_data"}
    assert any("running 2 cases" in html for _, html in updates)
    assert any("failed 2" in html for _, html in updates)
    assert updates[-1][1] == ""  # nothing is left of it
    assert found["outputs"] == ["display_data", "execute_result"]


def test_there_is_none_outside_of_notebooks() -> None:
    assert notebook_listeners() == []
