"""Processes that a test has begotten."""

import os
from contextlib import suppress
from pathlib import Path


def children() -> set[int]:
    """All that live now, those of earlier tests among them that share some.

    What is dead but not buried yet, since a thread of asyncio's has still to see it, does not live.
    """
    found = set[int]()
    for task in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread may end meanwhile
            found.update(map(int, task.read_text().split()))
    return {pid for pid in found if _lives(pid)}


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
