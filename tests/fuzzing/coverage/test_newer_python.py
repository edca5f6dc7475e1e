"""Two means to follow code, in two interpreters: `sys.settrace` is the definition of the other one."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions
from tests.conformance.subject_subprocess import find_python
from tests.fuzzing.coverage import walks
from tests.tool_host.trying import react

NEWER = find_python("TEST_NEWER_PYTHON", ".venv-newer")
ROOT = Path(__file__).parents[3]
ARGUMENTS = {"branches": 2, "loops": 9, "raises": 0, "generators": 3, "waits": 2, "nests": 2}

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        not NEWER, reason="sys.monitoring needs TEST_NEWER_PYTHON or .venv-newer, with Python 3.12 or 3.13"
    ),
]


@cache
def followed(python: str, means: str) -> list[Any]:
    """The edges of each call, in every round."""
    program = [python, "-m", "tests.fuzzing.coverage.following", means]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."])}
    told = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    rounds: list[Any] = json.loads(told.stdout)
    return rounds


@pytest.mark.parametrize("python", [NEWER, sys.executable], ids=["newer", "ours"])
def test_monitoring_sees_what_tracing_sees(python: str) -> None:
    traced, monitored = followed(python, "tracing")[0], followed(NEWER, "monitoring")[0]
    assert len(traced) == len(walks.CALLS)
    assert all(walk for _, walk in traced)
    for expected, seen in zip(traced, monitored, strict=True):
        assert seen == expected


@pytest.mark.parametrize("round_", [1, 2], ids=["the same watch again", "a watch after another"])
def test_nothing_is_lost_by_having_no_interest_in_some_code(round_: int) -> None:
    rounds = followed(NEWER, "monitoring")
    for expected, seen in zip(rounds[0], rounds[round_], strict=True):
        assert seen == expected


def test_tools_in_a_newer_interpreter_reach_the_same_lines(tmp_path: Path) -> None:
    (tmp_path / "walks.py").write_text(Path(walks.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    reached = []
    for python in (sys.executable, NEWER):
        with ToolHost(
            f"{tmp_path / 'walks.py'}:TOOLS", CallConditions(shelter="none", python=python)
        ) as bench:
            reactions = [react(bench, name, number=number) for name, number in ARGUMENTS.items()]
            assert {reaction.ended for reaction in reactions} == {"returned"}
            reached.append({name: bench.reach(name) for name in ARGUMENTS})
    assert reached[0] == reached[1]
    assert all(reach is not None and 0 < reach.lines <= reach.total for reach in reached[0].values())
