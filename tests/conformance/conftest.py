"""What is left of a test when it is over."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest


@pytest.fixture
def children() -> Callable[[], set[int]]:
    """The processes begotten since the test began that still live."""
    before = _children()
    return lambda: _children() - before


def _children() -> set[int]:
    found = set[int]()
    for task in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread may end meanwhile
            found.update(map(int, task.read_text().split()))
    return found
