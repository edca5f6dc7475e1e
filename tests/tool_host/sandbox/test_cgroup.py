"""Cgroups as limits: asked for with a program that stands in for systemd's, and for real where there is one."""

import os
from pathlib import Path

import pytest

from misstep.tool_host.sandbox.sandbox import cgroup_for
from tests.tool_host.trying import LIMITS, bench_in, needs_bubblewrap, react

SYSTEMD_RUN = """#!/bin/sh
echo "$*" >> {folder}/asked
while [ "$1" != "--" ]; do
  case "$1" in MemoryMax=*) memory="${{1#*=}}";; TasksMax=*) tasks="${{1#*=}}";; esac
  shift
done
shift
case "$*" in *memory.max*) {answer}; exit;; esac
exec "$@"
"""
SESSION = os.environ.get("XDG_RUNTIME_DIR", "")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session with a `systemd-run` that says which limits it was asked for, and sets none."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def install(folder: Path, answer: str) -> None:
    program = folder / "bin" / "systemd-run"
    program.write_text(SYSTEMD_RUN.format(folder=folder, answer=answer))
    program.chmod(0o755)


@needs_bubblewrap
def test_tools_run_in_a_cgroup_where_there_is_one(folder: Path) -> None:
    install(folder, 'echo "$memory"; echo "$tasks"')
    with bench_in(folder / "tools", shelter="bubblewrap") as bench:
        assert bench.sandbox.words.endswith("256 MB, limits by cgroup")
        assert react(bench, "fine").ended == "returned"
        assert "XDG_RUNTIME_DIR" not in react(bench, "variables").text
    last = (folder / "asked").read_text().splitlines()[-1]
    memory = 3 * LIMITS.memory + LIMITS.disk + (4 << 30)
    assert f"-p MemoryMax={memory} -p TasksMax={LIMITS.processes * 4 + 16} -- " in last
    assert "bwrap" in last


@pytest.mark.parametrize("answer", ["echo max; echo max", "exit 1"])
def test_limits_that_do_not_hold_are_not_told_of(folder: Path, answer: str) -> None:
    """A systemd that may not set them takes the request, and nothing comes of it."""
    install(folder, answer)
    assert cgroup_for(LIMITS).command == ()


def delegated() -> str:
    """The controllers that the user's own systemd may use."""
    user = os.getuid()
    path = Path(f"/sys/fs/cgroup/user.slice/user-{user}.slice/user@{user}.service/cgroup.controllers")
    return path.read_text() if path.exists() else ""


@pytest.mark.skipif(
    not os.path.exists(f"{SESSION}/systemd/private") or not {"memory", "pids"} <= set(delegated().split()),
    reason="no systemd manages this session with cgroups of version 2",
)
def test_a_real_session_has_cgroups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", SESSION)
    assert cgroup_for(LIMITS).command[0].endswith("systemd-run")
