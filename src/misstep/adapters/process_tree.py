"""Process trees: which processes end together."""

import ctypes
import os
import signal
import sys
from contextlib import suppress

from misstep.adapters.processes import PROCESSES, Listed, listed

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36


def keep_orphans() -> None:
    """What our children leave behind becomes our child, so that it is found when all has to end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with_parent() -> None:
    """Be ended when the process ends that has started this one."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def open_to_family(is_open: bool) -> None:
    """Whether other processes of this user may look into this one, change it, or take its open files.

    Processes that it starts as copies of itself begin with the same.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, int(is_open), 0, 0, 0)


def kill_process_tree(leader: int) -> None:
    """Kill the session of this leader and whatever descends from it, in sessions of its own as well.

    A leader that ends itself goes last. Where the system doesn't list its processes as Linux does, that is
    the leader's process group.
    """
    if not os.path.exists(f"{PROCESSES}/self/stat"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
        return
    for pid in sorted(_halt(leader), key=lambda each: each == os.getpid()):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _halt(leader: int) -> set[int]:
    """The whole family, stopped but for ourselves, until nobody is left who could add to it.

    Were they killed one after the other, a child could go its own way just when its parent is gone.
    """
    sessions, found = {leader}, set[int]()
    while newly_found := [each for each in _family(sessions) if each.pid not in found]:
        for process in newly_found:
            if process.pid != os.getpid():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process.pid, signal.SIGSTOP)
            found.add(process.pid)
            sessions.add(process.session)
    return found


def _family(sessions: set[int]) -> list[Listed]:
    """The members of these sessions that live, with their descendants."""
    everybody = list(listed())
    children = dict[int, list[Listed]]()
    for process in everybody:
        children.setdefault(process.parent, []).append(process)
    family = {process.pid: process for process in everybody if process.session in sessions}
    waiting = list(family)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child.pid not in family:
                family[child.pid] = child
                waiting.append(child.pid)
    return list(family.values())
