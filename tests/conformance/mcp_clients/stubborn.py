"""A program that won't go: deaf to requests to end, with children that have gone their own ways.

usage: stubborn.py CONFIG PIDS stay|leave; tells the numbers of all its processes in the file PIDS
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path


def child(go_own_way: Callable[[], object]) -> int:
    pid = os.fork()
    if pid == 0:
        go_own_way()
        stay()
        os._exit(0)
    return pid


def stay() -> None:
    """Longer than any test waits, yet not for ever, for the day when a test fails."""
    time.sleep(300)


def main(pids: Path, leaves: bool) -> None:
    for deaf_to in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(deaf_to, signal.SIG_IGN)
    children = [child(lambda: None), child(os.setpgrp)]
    # Once its parent has gone, nothing ties a session of its own to us any more.
    children += [] if leaves else [child(os.setsid)]
    draft = pids.with_suffix(".draft")
    draft.write_text(" ".join(map(str, [os.getpid(), *children])))
    draft.rename(pids)
    print("leaving" if leaves else "staying", flush=True)
    if not leaves:
        stay()


if __name__ == "__main__":
    main(Path(sys.argv[2]), leaves=sys.argv[3] == "leave")
