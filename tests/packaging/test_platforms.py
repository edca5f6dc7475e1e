"""Planning tests need nothing that only POSIX systems have; other commands say so."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.bare import ROOT

AGENT = "def agent(request, tools):\n    print('hello')\n    return 'done'\n"


def windows(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tests.packaging.windows", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_help_and_planning_tests_use_no_posix(tmp_path: Path) -> None:
    assert windows(tmp_path, "--help").returncode == 0
    common = ("--count", "5", "--fail-on", "none", "--display", "none", "--json")
    (tmp_path / "mine.py").write_text(AGENT)
    for agent in ("sim:greedy", "mine.py:agent"):
        tested = windows(tmp_path, "plan", "test", "--agent", agent, *common)
        assert tested.returncode == 0, tested.stderr
        summary = json.loads(tested.stdout)
        assert (summary["cases"], summary["errored"]) == (5, 0)


@pytest.mark.full
@pytest.mark.parametrize("command", ["plan dissect last --sample 1", "report last", "runs", "show last"])
def test_what_follows_a_planning_test_uses_no_posix(tmp_path: Path, command: str) -> None:
    test = ("plan", "test", "--agent", "sim:greedy", "--count", "5", "--fail-on", "none", "--display", "none")
    assert windows(tmp_path, *test).returncode == 0
    done = windows(tmp_path, *command.split())
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["tool fuzz", "tool lint", "bench files"])
def test_other_commands_say_that_they_need_another_system(tmp_path: Path, command: str) -> None:
    told = windows(tmp_path, *command.split(), "--help")
    assert told.returncode == 2
    assert f"'{command}' does not run on Windows" in told.stderr
    assert "Traceback" not in told.stderr
