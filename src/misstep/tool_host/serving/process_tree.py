"""Lists, measures, limits and ends the processes in the sandbox, and finds out where one hung or crashed."""

import faulthandler
import os
import re
import resource
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from misstep.adapters import processes
from misstep.core.outcome import storable
from misstep.core.text import is_ours
from misstep.core.tool import Frame
from misstep.fuzzing.judging.exceptions import source_line
from misstep.tool_host.protocol import Limits

PATIENCE = 5.0  # seconds until killed processes are gone
PAUSE = 0.0005
FAR = 4  # times the limit
PAGE = os.sysconf("SC_PAGE_SIZE")


def namespace() -> str:
    """The id of this process's PID namespace; empty if there are none."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


class ProcessTree:
    """The processes below the one that creates this object: the supervisor.

    In a PID namespace of their own these are all processes. Otherwise they are its descendants, found by
    parent; orphans become children of the supervisor.
    """

    def __init__(self, outside: str) -> None:
        inside = namespace()
        self.is_private = bool(inside and outside and inside != outside) and os.getpid() == 1
        self._supervisor = os.getpid()
        self._newest = b""
        self._count = 0

    def count(self, most: int) -> int:
        """The number of processes, estimated if far too many; counted again only after one was started."""
        newest = _newest()
        if newest != self._newest or not newest:
            self._newest = newest
            seeming = len(processes.numbers()) if self.is_private else 0
            self._count = seeming if seeming > FAR * most else len(self.living())
        return self._count

    def living(self) -> list[processes.ListedProcess]:
        """All live processes except the supervisor."""
        if self.is_private:
            return [each for each in processes.listed() if each.pid != self._supervisor]
        return [
            *processes.with_descendants(
                processes.listed(), lambda each: each.parent == self._supervisor
            ).values()
        ]

    def memory(self) -> int:
        """The sum of their resident memory in bytes; shared memory counts for each of them."""
        return sum(_memory_of(each.pid, 1) for each in self.living())

    def true_memory(self) -> int:
        """The memory of all together in bytes, counting shared memory once; 0 if unknown at the moment.

        A process that is being forked would make this wait, and many of them for too long.
        """
        before, total = _newest(), 0
        for each in self.living():
            if _newest() != before:
                return 0
            with suppress(OSError), open(f"/proc/{each.pid}/smaps_rollup", "rb") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith(b"Pss:")) * 1024
        return total

    def end_others(self) -> None:
        """End all processes except the supervisor and the current one, and wait until they are gone."""
        until = time.monotonic() + PATIENCE
        while others := [each.pid for each in self.living() if each.pid != os.getpid()]:
            if self.is_private:
                os.kill(-1, signal.SIGKILL)  # spares the init of the namespace and the calling process
            else:
                for pid in others:
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)
            if time.monotonic() > until:
                return
            time.sleep(PAUSE)

    def end_all(self, litter: Sequence[str] = ()) -> None:
        """End the supervisor (which is calling) and all other processes, and remove the files they leave.

        In a PID namespace they end with it, and their files with the mount namespace.
        """
        if not self.is_private:
            self.end_others()
            for folder in litter:
                shutil.rmtree(folder, ignore_errors=True)
            processes.kill_process_tree(os.getpid())


def _newest() -> bytes:
    """The id of the most recently started process in this namespace."""
    try:
        with open("/proc/loadavg", "rb") as file:
            return file.read().rpartition(b" ")[2]
    except OSError:
        return b""


MUCH = 0.3  # share of the time they could run; the latest delay of a thread is not known yet


class Gauge:
    """Measures the CPU use of the sandbox from now on, without the supervisor and the current process.

    On a busy machine a loop gets little CPU time, so time spent in the run queue does not count as waiting.
    """

    def __init__(self, process_tree: ProcessTree) -> None:
        self._process_tree = process_tree
        self._began = time.monotonic()
        self._seconds, self._delays = self._look()

    def computed(self) -> float:
        """Seconds of CPU time used since the start; 0 if the processes waited most of the time."""
        seconds, delays = self._look()
        used = seconds - self._seconds
        kept = max((delay - self._delays.get(thread, 0.0) for thread, delay in delays.items()), default=0.0)
        return used if used > max(0.0, MUCH * (time.monotonic() - self._began - kept)) else 0.0

    def _look(self) -> tuple[float, dict[tuple[int, int], float]]:
        """CPU time of all processes so far, and the time that each thread was delayed."""
        seconds, delays = 0.0, dict[tuple[int, int], float]()
        for each in self._process_tree.living():
            if each.pid != os.getpid():
                seconds += each.seconds
                delays |= processes.held_up(each.pid)
        return seconds, delays


OPEN_FILES = 512
THREADS = 4  # per allowed process; the system does not distinguish them
MORE_CPU = 60  # seconds in addition to those for a call
NICE = 5  # so that the supervisor and the user have priority


def limit(limits: Limits, private: bool, address_space: bool = True) -> None:
    """Apply the limits to this process. `private` if no other processes of this user count."""
    os.nice(NICE)
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_FSIZE, limits.disk)
    _set(resource.RLIMIT_NOFILE, OPEN_FILES)
    if address_space:
        _set(resource.RLIMIT_AS, _memory_of("self", 0) + limits.memory)
    if private:
        _set(resource.RLIMIT_NPROC, limits.processes * THREADS)


def allow_cpu(timeout: float) -> None:
    """Set a CPU limit for this process and its future children: the time of a call and a margin."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + 2 * timeout + MORE_CPU)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _set(which: int, amount: int) -> None:
    """Set a limit, unless a lower one exists or the system does not support it."""
    _, highest = resource.getrlimit(which)
    if highest != resource.RLIM_INFINITY:
        amount = min(amount, highest)
    with suppress(ValueError, OSError):
        resource.setrlimit(which, (amount, amount))


def _memory_of(pid: int | str, column: int) -> int:
    """A column of a process's memory statistics, in bytes: 0 is its address space, 1 what is resident."""
    with suppress(OSError, IndexError), open(f"/proc/{pid}/statm", "rb") as file:
        return int(file.read().split()[column]) * PAGE
    return 0


LONGEST = 1 << 18  # bytes that are read
MOST_FRAMES = 40
WRITING = 1.0  # seconds to write a stack
LOOKING = 0.01
ASKING = getattr(signal, "SIGRTMAX", signal.SIGUSR2)
_FRAME = re.compile(r'  File "(?P<file>.*)", line (?P<line>\d+|\?\?\?) in (?P<function>.*)')
_THREADS = re.compile(r"^(?=(?:Current thread|Thread|Stack) )", re.MULTILINE)  # the main one comes last


class CrashTraces:
    """A file that the interpreter writes its stack to when it crashes, or on a signal.

    The signal interrupts the process wherever it is. Reading a stack while it changes could crash the
    process, so the signal is sent only to one that is about to be ended.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  (open as long as the process lives)

    def begin(self) -> None:
        """To be called in the process that is watched."""
        os.ftruncate(self._file.fileno(), 0)
        os.lseek(self._file.fileno(), 0, os.SEEK_SET)
        faulthandler.enable(self._file)
        faulthandler.register(ASKING, self._file)

    def ask(self, process: int) -> None:
        """Make the process write its stack, and wait briefly until it has."""
        until, size = time.monotonic() + WRITING, 0
        with suppress(ProcessLookupError):
            os.kill(process, ASKING)
        while time.monotonic() < until:
            time.sleep(LOOKING)
            before, size = size, os.fstat(self._file.fileno()).st_size
            if 0 < size == before:
                return

    def read(self, owns: Callable[[str], bool]) -> tuple[Frame, ...]:
        """The frames of a thread that runs the tool's own code, preferably the main one, innermost last."""
        text = os.pread(self._file.fileno(), LONGEST, 0).decode("utf-8", "replace")
        threads = [_frames(part.splitlines(), owns) for part in _THREADS.split(text)]
        return next((frames for frames in reversed(threads) if any(frame.own for frame in frames)), ())


def _frames(lines: list[str], owns: Callable[[str], bool]) -> tuple[Frame, ...]:
    frames = list[Frame]()
    for match in filter(None, map(_FRAME.fullmatch, reversed(lines))):
        file, line = match["file"], int(match["line"]) if match["line"].isdigit() else 0
        if not is_ours(file):
            own = owns(file)
            source = source_line(file, line) if own else ""
            frames.append(Frame(storable(file), line, storable(match["function"]), own, source))
    first = next((place for place, frame in enumerate(frames) if frame.own), 0)
    return tuple(frames[first:][-MOST_FRAMES:])
