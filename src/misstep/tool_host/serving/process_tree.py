"""The processes in the sandbox, so that all of them can be ended."""

import os
import shutil
import signal
import time
from collections.abc import Sequence
from contextlib import suppress

from misstep.adapters.process_tree import kill_process_tree
from misstep.adapters.processes import Listed, listed, numbers

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

    def living(self) -> list[Listed]:
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
