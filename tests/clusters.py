"""A real Ray cluster on this machine, one at a time."""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}


@contextmanager
def ray_cluster() -> Iterator[Any]:
    """A cluster with one node; another test process waits until there is no other such cluster."""
    pytest.importorskip("ray", reason="ray is not installed")
    from ray.cluster_utils import Cluster

    with (Path(tempfile.gettempdir()) / "misstep-test-cluster.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
        yield cluster
        cluster.shutdown()


def with_two_nodes(cluster: Any) -> Any:
    """The cluster with two nodes, each with one CPU."""
    if not cluster.worker_nodes:
        cluster.add_node(**NODE)
        cluster.wait_for_nodes()
    return cluster
