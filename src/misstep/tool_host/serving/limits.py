"""Limits of the system for the process that calls tools and for all that it starts."""

import os
import resource
from contextlib import suppress

from misstep.tool_host.protocol import Limits

OPEN_FILES = 512
THREADS = 4  # for each process that is allowed; to the system both are the same
MORE_CPU = 60  # seconds beside those for a call
NICE = 5  # whatever they do, the warden and the user come first
PAGE = os.sysconf("SC_PAGE_SIZE")


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
