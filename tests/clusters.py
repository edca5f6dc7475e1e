"""A real Ray cluster on this machine, one at a time."""

import fcntl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}
ATTEMPTS = 5
ASKING = """
import sys
import ray

class Voice:
    def speak(self):
        return "here"

ray.init(address=sys.argv[1], log_to_driver=False)
voice = ray.remote(Voice).remote()
assert ray.get(voice.speak.remote()) == "here"
"""


@contextmanager
def ray_cluster() -> Iterator[Any]:
    """A cluster with one node; another test process waits until there is no other such cluster."""
    pytest.importorskip("ray", reason="ray is not installed")
    with (Path(tempfile.gettempdir()) / "misstep-test-cluster.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cluster = _start()
        yield cluster
        cluster.shutdown()


def _start() -> Any:
    """A cluster that keeps actors: now and then Ray starts one that takes every driver for dead, and goes on so."""
    from ray.cluster_utils import Cluster

    problems = []
    for _ in range(ATTEMPTS):
        cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
        problem = _lost_actor(cluster.address)
        if not problem:
            return cluster
        problems.append(problem)
        cluster.shutdown()
    return pytest.fail("\n\n".join([f"{ATTEMPTS} new clusters lost their first actor:", *problems]))


def _lost_actor(address: str) -> str:
    """Why a new process does not hear an actor of its own there; empty where it does."""
    done = subprocess.run([sys.executable, "-c", ASKING, address], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def with_two_nodes(cluster: Any) -> Any:
    """The cluster with two nodes, each with one CPU."""
    if not cluster.worker_nodes:
        cluster.add_node(**NODE)
        cluster.wait_for_nodes()
    return cluster
