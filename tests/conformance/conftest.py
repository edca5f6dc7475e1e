"""What is left of a test when it is over."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def children() -> Callable[[], set[int]]:
    """The processes begotten since the test began that still live."""
    before = _children()
    return lambda: _children() - before


def _children() -> set[int]:
    tasks = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {int(pid) for task in tasks for pid in task.read_text().split()}
