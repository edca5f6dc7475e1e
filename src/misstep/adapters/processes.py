"""Lists, measures and kills process trees on Linux; holds the current case's model address for agents."""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

# Environment variables with the address for a client; empty if no proxy is between agent and model.
NOWHERE: Mapping[str, str] = MappingProxyType({})
current_addresses: ContextVar[Mapping[str, str]] = ContextVar("current_addresses", default=NOWHERE)


PROCESSES = "/proc"
_TICKS = os.sysconf("SC_CLK_TCK")
_TIMES = slice(11, 15)  # user and system time, then those of reaped children


class ListedProcess(NamedTuple):
    """A live process. `seconds` is its CPU time including reaped children."""

    pid: int
    parent: int
    session: int
    seconds: float


Family: TypeAlias = dict[int, ListedProcess]


def numbers() -> list[str]:
    """The ids of all processes, including zombies; empty if they cannot be listed."""
    return [name for name in os.listdir(PROCESSES) if name.isdigit()] if os.path.isdir(PROCESSES) else []


def listed() -> Iterator[ListedProcess]:
    for name in numbers():
        with suppress(OSError, ValueError), open(f"{PROCESSES}/{name}/stat", "rb") as file:
            # The program name is in parentheses and may itself contain any character.
            fields = file.read().rpartition(b")")[2].split()
            if fields and fields[0] not in b"ZX":
                seconds = sum(map(int, fields[_TIMES])) / _TICKS
                yield ListedProcess(int(name), int(fields[1]), int(fields[3]), seconds)


def family_seconds(leader: int, skipped: int = 0) -> float:
    """CPU time in seconds that a process and its descendants took or waited for on a busy machine.

    The first `skipped` generations are left out; a skipped generation counts as long as it has no children.
    """
    everybody = list(listed())
    generation, total, number = [each for each in everybody if each.pid == leader], 0.0, 0
    while generation:
        pids = {each.pid for each in generation}
        children = [each for each in everybody if each.parent in pids]
        if number >= skipped or not children:
            total += sum(each.seconds + sum(held_up(each.pid).values()) for each in generation)
        generation, number = children, number + 1
    return total


def held_up(pid: int) -> dict[tuple[int, int], float]:
    """The time in seconds that each thread of a process was runnable but not running."""
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


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def keep_orphans() -> None:
    """Become the parent of orphaned descendants, so that they can be found and ended."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent() -> None:
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def open_to_family(is_open: bool) -> None:
    """Whether other processes of this user may inspect or modify this one, or take its open files.

    Forked processes inherit this.
    """
    _prctl(PR_SET_DUMPABLE, int(is_open))


def kill_process_tree(leader: int) -> None:
    """Kill the leader's session and all descendants, including those in other sessions; ourselves last."""
    if not os.path.exists(f"{PROCESSES}/self/stat"):  # without Linux's process list, only the group is known
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
        return
    for pid in sorted(_halt(leader), key=lambda each: each == os.getpid()):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _halt(leader: int) -> set[int]:
    """Stop the whole process tree, except ourselves, until no new processes appear."""
    # If they were killed one by one, a child could escape when its parent is gone.
    sessions, found = {leader}, set[int]()
    while True:
        family = with_descendants(listed(), lambda each: each.session in sessions)
        newly_found = [each for each in family.values() if each.pid not in found]
        if not newly_found:
            return found
        for process in newly_found:
            if process.pid != os.getpid():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process.pid, signal.SIGSTOP)
            found.add(process.pid)
            sessions.add(process.session)


def with_descendants(everybody: Iterable[ListedProcess], root: Callable[[ListedProcess], bool]) -> Family:
    """The processes for which `root` holds and their descendants, by id."""
    everybody = list(everybody)
    children = dict[int, list[ListedProcess]]()
    for process in everybody:
        children.setdefault(process.parent, []).append(process)
    family = {process.pid: process for process in everybody if root(process)}
    waiting = list(family)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child.pid not in family:
                family[child.pid] = child
                waiting.append(child.pid)
    return family


LONGEST = 10  # times the limit: maximum time for a process that makes progress
STEP = 0.05  # seconds of CPU time that count as progress
LOOK = 0.5  # seconds between checks while waiting


class Patience:
    """How long to wait for something that makes progress: `limit` seconds since its last change."""

    def __init__(self, limit: float, measure: Callable[[], float]) -> None:
        self._limit = limit
        self._measure = measure
        self._began = self._changed_at = time.monotonic()
        self._size = measure()

    @property
    def outcome(self) -> str:
        """Why waiting ended, in words."""
        if self._changed_at + self._limit < self._began + LONGEST * self._limit:
            return f"did not load: it was idle for {self._limit:g} s"
        return f"did not load within {LONGEST * self._limit:g} s"

    def left(self) -> float:
        """Seconds left if nothing changes."""
        now, size = time.monotonic(), self._measure()
        if abs(size - self._size) >= STEP:  # it decreases when a process has ended
            self._size, self._changed_at = size, now
        return min(self._changed_at + self._limit, self._began + LONGEST * self._limit) - now
