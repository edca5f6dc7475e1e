"""The processes in the sandbox, so that all of them can be ended.

Tells processes that compute from processes that wait.

Limits of the system for the process that calls tools and for all that it starts.
"""

import os
import resource
import shutil
import signal
import time
from collections.abc import Sequence
from contextlib import suppress

from misstep.adapters.processes import ListedProcess, held_up, kill_process_tree, listed, numbers
from misstep.tool_host.protocol import Limits

PATIENCE = 5.0  # seconds for the system to end what was killed
PAUSE = 0.0005
FAR = 4  # times too many
PAGE = os.sysconf("SC_PAGE_SIZE")


def namespace() -> str:
    """The name of the process namespace that this process is in; empty where there are none."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


class ProcessTree:
    """Counts the processes below the one that made it: the warden.

    In a namespace of their own these are all that there are. Elsewhere they are its descendants, found by
    who started whom; those whose parents have ended have become the warden's children.
    """

    def __init__(self, outside: str) -> None:
        inside = namespace()
        self.is_private = bool(inside and outside and inside != outside) and os.getpid() == 1
        self._warden = os.getpid()
        self._newest = b""
        self._count = 0

    def count(self, most: int) -> int:
        """How many there are; of far too many, how many there seem to be.

        Nobody is counted again unless a process has been started since.
        """
        newest = _newest()
        if newest != self._newest or not newest:
            self._newest = newest
            seeming = len(numbers()) if self.is_private else 0
            self._count = seeming if seeming > FAR * most else len(self.living())
        return self._count

    def living(self) -> list[ListedProcess]:
        """All that live but the warden."""
        everybody = {each.pid: each for each in listed()}
        found = {self._warden}
        size = 0
        while len(found) > size and not self.is_private:
            size = len(found)
            found |= {each.pid for each in everybody.values() if each.parent in found}
        members = everybody if self.is_private else found & everybody.keys()
        return [everybody[pid] for pid in members if pid != self._warden]

    def memory(self) -> int:
        """The bytes of memory that each of them has, added up; what several share counts for each."""
        total = 0
        for each in self.living():
            with suppress(OSError, IndexError), open(f"/proc/{each.pid}/statm", "rb") as file:
                total += int(file.read().split()[1]) * PAGE
        return total

    def true_memory(self) -> int:
        """The bytes of memory that all have together; nought while that can't be found out.

        A process that is just being copied would keep us waiting, and many of them for too long.
        """
        before, total = _newest(), 0
        for each in self.living():
            if _newest() != before:
                return 0
            with suppress(OSError), open(f"/proc/{each.pid}/smaps_rollup", "rb") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith(b"Pss:")) * 1024
        return total

    def end_others(self) -> None:
        """End all but the warden and the process that asks for it, and wait until they are gone."""
        until = time.monotonic() + PATIENCE
        while others := [each.pid for each in self.living() if each.pid != os.getpid()]:
            if self.is_private:
                os.kill(-1, signal.SIGKILL)  # spares the init of the namespace and whoever calls it
            else:
                _kill(others)
            if time.monotonic() > until:
                return
            time.sleep(PAUSE)

    def end_all(self, litter: Sequence[str] = ()) -> None:
        """End the warden that asks for it with all others, and remove what they leave on the disk.

        In a namespace of its own they end when it does, and their files with them.
        """
        if not self.is_private:
            self.end_others()
            for folder in litter:
                shutil.rmtree(folder, ignore_errors=True)
            kill_process_tree(os.getpid())


def _kill(pids: list[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _newest() -> bytes:
    """The number of the process that was started last, in this namespace."""
    try:
        with open("/proc/loadavg", "rb") as file:
            return file.read().rpartition(b" ")[2]
    except OSError:
        return b""


MUCH = 0.3  # of the time that the system let them have; the last delay of a thread is not known yet


class Gauge:
    """Measures what goes on in the sandbox from when it is made, but for the warden and whoever made it.

    On a busy machine a loop gets little of the processor. So the time for which it was kept from running is
    not counted as if it had waited.
    """

    def __init__(self, census: ProcessTree) -> None:
        self._census = census
        self._began = time.monotonic()
        self._seconds, self._delays = self._look()

    def computed(self) -> float:
        """Seconds of processor time that were used since; nought if most of the time they waited."""
        seconds, delays = self._look()
        used = seconds - self._seconds
        kept = max((delay - self._delays.get(thread, 0.0) for thread, delay in delays.items()), default=0.0)
        return used if used > max(0.0, MUCH * (time.monotonic() - self._began - kept)) else 0.0

    def _look(self) -> tuple[float, dict[tuple[int, int], float]]:
        """Seconds of processor time used by all up to now, and for how long each thread was kept from it."""
        seconds, delays = 0.0, dict[tuple[int, int], float]()
        for each in self._census.living():
            if each.pid != os.getpid():
                seconds += each.seconds
                delays |= held_up(each.pid)
        return seconds, delays


OPEN_FILES = 512
THREADS = 4  # for each process that is allowed; to the system both are the same
MORE_CPU = 60  # seconds beside those for a call
NICE = 5  # whatever they do, the warden and the user come first


def limit(limits: Limits, private: bool, address_space: bool = True) -> None:
    """Hold this process to the limits. `private` if no others of this user are counted with it."""
    os.nice(NICE)
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_FSIZE, limits.disk)
    _set(resource.RLIMIT_NOFILE, OPEN_FILES)
    if address_space:
        _set(resource.RLIMIT_AS, _address_space() + limits.memory)
    if private:
        _set(resource.RLIMIT_NPROC, limits.processes * THREADS)


def allow_cpu(timeout: float) -> None:
    """Let this process, and any that it starts from now on, have the time of a call and some more."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + 2 * timeout + MORE_CPU)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _set(which: int, amount: int) -> None:
    """Set a limit, unless there is a lower one or the system has no such limit."""
    _, highest = resource.getrlimit(which)
    if highest != resource.RLIM_INFINITY:
        amount = min(amount, highest)
    with suppress(ValueError, OSError):
        resource.setrlimit(which, (amount, amount))


def _address_space() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * PAGE
    except OSError:
        return 0
