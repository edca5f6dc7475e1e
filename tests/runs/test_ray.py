"""Whole runs on a real cluster of two nodes: whatever happens to it, they end like local ones."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from misstep.store.runs import Store
from tests.clusters import ray_cluster, with_two_nodes
from tests.runs.test_resume import comparable, hear_ctrl_c, newest

pytestmark = pytest.mark.full

AGENT = """
import asyncio


async def agent(request, tools):
    for tool in tools:
        await asyncio.sleep(0.02)
        tool()
    return "done"
"""
QUIET = ["--json", "--display", "none", "--fail-on", "none"]
COMMAND = [sys.executable, "-m", "misstep", "plan", "test"]
SUITE = ["--agent", "agent.py:agent", "--count", "150", "--jobs", "6", *QUIET]


@pytest.fixture(scope="module")
def head() -> Iterator[Any]:
    with ray_cluster() as cluster:
        yield cluster


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agent.py").write_text(AGENT)
    return tmp_path


def start(folder: Path, arguments: list[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_ctrl_c,
    )


def finish(folder: Path, *arguments: str) -> dict[str, Any]:
    process = start(folder, list(arguments))
    out, err = process.communicate()
    assert process.returncode == 0, err
    return dict(json.loads(out))


def wait_for(folder: Path, outcomes: int, process: "subprocess.Popen[str]") -> None:
    while process.poll() is None:
        run = newest(str(folder / ".misstep" / "store.db"))  # there may be none yet, or it is being made
        if run and run.done >= outcomes:
            return
        time.sleep(0.02)
    raise AssertionError(process.communicate()[1])


def check_outcomes(folder: Path, one: str, other: str) -> None:
    with Store(str(folder / ".misstep" / "store.db")) as store:
        found = [
            sorted((outcome.case.id, str(outcome.verdict)) for outcome in store.outcomes(run))
            for run in (one, other)
        ]
    assert found[0] == found[1]


def test_a_node_killed_mid_run_costs_no_case_and_counts_none_twice(head: Any, folder: Path) -> None:
    cluster = with_two_nodes(head)
    process = start(folder, [*SUITE, "--on", "ray", "--ray-address", cluster.address])
    wait_for(folder, 20, process)
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    out, err = process.communicate()
    assert process.returncode == 0, err
    summary, local = json.loads(out), finish(folder, *SUITE)
    assert comparable(summary) == comparable(local)
    check_outcomes(folder, summary["run"], local["run"])


def test_a_budget_holds_on_a_cluster_and_the_run_goes_on_elsewhere(head: Any, folder: Path) -> None:
    on_ray = ["--on", "ray", "--ray-address", with_two_nodes(head).address]
    process = start(folder, [*SUITE, *on_ray, "--budget-calls", "200"])
    _, err = process.communicate()
    assert process.returncode == 3, err
    with Store(str(folder / ".misstep" / "store.db")) as store:
        run = store.list_runs()[0]
        assert 0 < run.done < 150
        assert 150 < store.spent(run.id).calls <= 200
    assert f"--resume {run.id} {' '.join(on_ray)} --budget-calls MORE" in err
    process = start(folder, ["--resume", run.id, "--budget-calls", "1000000", "--json", "--fail-on", "none"])
    out, err = process.communicate()
    assert "Ray" not in err
    resumed = json.loads(out)
    local = finish(folder, *SUITE)
    assert comparable(resumed) == comparable(local)
    check_outcomes(folder, resumed["run"], local["run"])


def test_ctrl_c_keeps_what_has_finished(head: Any, folder: Path) -> None:
    process = start(folder, [*SUITE, "--on", "ray", "--ray-address", with_two_nodes(head).address])
    wait_for(folder, 10, process)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert "resume with: misstep plan test --resume" in err
