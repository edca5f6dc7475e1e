"""The processes that there are, as Linux lists them.

Where the model of the case that runs now is to be found, for agents that start a process for each.

Process trees: which processes end together.

How long to wait for a process that loads somebody's code.
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar
from types import MappingProxyType
from typing import NamedTuple

# The environment variables that point a client there; none where nothing stands between agent and model.
NOWHERE: Mapping[str, str] = MappingProxyType({})
current_addresses: ContextVar[Mapping[str, str]] = ContextVar("current_addresses", default=NOWHERE)


PROCESSES = "/proc"
_TICKS = os.sysconf("SC_CLK_TCK")
_TIMES = slice(11, 15)  # user and system time, then that of children that have ended and been waited for


class ListedProcess(NamedTuple):
    """A process that lives. `seconds` of processor time are its own and that of its buried children."""

    pid: int
    parent: int
    session: int
    seconds: float


def numbers() -> list[str]:
    """The numbers of all processes, those too that are dead but not buried; none where nobody lists them."""
    return [name for name in os.listdir(PROCESSES) if name.isdigit()] if os.path.isdir(PROCESSES) else []


def listed() -> Iterator[ListedProcess]:
    """All processes that live."""
    for name in numbers():
        with suppress(OSError, ValueError), open(f"{PROCESSES}/{name}/stat", "rb") as file:
            # The name of the program stands in brackets and may hold anything, brackets as well.
            fields = file.read().rpartition(b")")[2].split()
            if fields and fields[0] not in b"ZX":
                seconds = sum(map(int, fields[_TIMES])) / _TICKS
                yield ListedProcess(int(name), int(fields[1]), int(fields[3]), seconds)


def family_seconds(leader: int, skipped: int = 0) -> float:
    """Seconds of processor time of a process and its descendants, but for generations that are skipped.

    Those count as long as they have no children.
    """
    everybody = list(listed())
    generation, total, number = [each for each in everybody if each.pid == leader], 0.0, 0
    while generation:
        pids = {each.pid for each in generation}
        children = [each for each in everybody if each.parent in pids]
        if number >= skipped or not children:
            total += sum(each.seconds for each in generation)
        generation, number = children, number + 1
    return total


def held_up(pid: int) -> dict[tuple[int, int], float]:
    """The seconds for which each thread of a process could have run while others did."""
    found = dict[tuple[int, int], float]()
    with suppress(OSError):
        for thread in os.listdir(f"{PROCESSES}/{pid}/task"):
            with (
                suppress(OSError, ValueError, IndexError),
                open(f"{PROCESSES}/{pid}/task/{thread}/schedstat", "rb") as file,
            ):
                found[pid, int(thread)] = int(file.read().split()[1]) / 1e9
    return found


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


def _family(sessions: set[int]) -> list[ListedProcess]:
    """The members of these sessions that live, with their descendants."""
    everybody = list(listed())
    children = dict[int, list[ListedProcess]]()
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


LONGEST = 10  # times the limit: for so long it is waited for whatever makes progress
STEP = 0.05  # seconds of processor time that are progress
LOOK = 0.5  # seconds until somebody who waits looks whether to go on


class Patience:
    """How long to wait for something that should change: so many seconds from when it last did."""

    def __init__(self, limit: float, measure: Callable[[], float]) -> None:
        self._limit = limit
        self._measure = measure
        self._began = self._changed_at = time.monotonic()
        self._size = measure()

    @property
    def outcome(self) -> str:
        """What came of waiting."""
        if self._changed_at + self._limit < self._began + LONGEST * self._limit:
            return f"was not loaded: it did nothing for {self._limit:g} s"
        return f"was not loaded within {LONGEST * self._limit:g} s"

    def left(self) -> float:
        """Seconds that are left, if nothing changes."""
        now, size = time.monotonic(), self._measure()
        if abs(size - self._size) >= STEP:  # less, if a process has ended
            self._size, self._changed_at = size, now
        return min(self._changed_at + self._limit, self._began + LONGEST * self._limit) - now
