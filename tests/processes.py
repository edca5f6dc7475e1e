"""Processes that a test has begotten."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO


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


def drain(stream: IO[str]) -> Callable[[], str]:
    """Read the rest of what a process prints, which would stop at a full pipe otherwise.

    What is returned waits for its end and gives the text.
    """
    lines = list[str]()

    def read() -> None:
        with suppress(ValueError):  # closed meanwhile
            lines.extend(stream)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()

    def rest() -> str:
        reader.join()
        return "".join(lines)

    return rest
