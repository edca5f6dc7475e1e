"""Limits by cgroup, where systemd manages the user's session and lets it have cgroups of its own."""

import functools
import os
import shutil
import subprocess

import msgspec

from misstep.tool_host.protocol import MEGABYTE, Limits
from misstep.tool_host.serving.limits import THREADS

PROGRAM = "systemd-run"
VARIABLES = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")  # by which it reaches systemd
FLAGS = ("--user", "--scope", "--quiet", "--collect")
PATIENCE = 10.0  # seconds
# For the interpreter and what tools load, which is not known before: the supervisor measures that.
LOADING = 4096 * MEGABYTE
GUARDS = 16  # processes that are not the tools' own
# Says which limits hold in the cgroup that it runs in.
SHOWING = 'read -r own < /proc/self/cgroup && cd "/sys/fs/cgroup${own#0::}" && cat memory.max pids.max'


class Scope(msgspec.Struct, frozen=True):
    """What to put before a command, and the variables that this needs; nothing where there are no cgroups."""

    command: tuple[str, ...] = ()
    variables: dict[str, str] = {}


def cgroup_for(limits: Limits) -> Scope:
    """A cgroup with these limits for a command and all that it starts; it is gone when they are."""
    program = shutil.which(PROGRAM)
    variables = {name: os.environ[name] for name in VARIABLES if name in os.environ}
    if not program or not os.path.isdir(variables.get("XDG_RUNTIME_DIR", "")):
        return Scope()
    memory = 3 * limits.memory + limits.disk + LOADING
    processes = limits.processes * THREADS + GUARDS
    command = (program, *FLAGS, "-p", f"MemoryMax={memory}", "-p", f"TasksMax={processes}", "--")
    return Scope(command, variables) if _holds(command, f"{memory}\n{processes}\n") else Scope()


@functools.cache
def _holds(command: tuple[str, ...], expected: str) -> bool:
    """Whether it works, and the limits are what was asked for, which is found out by trying."""
    try:
        tried = subprocess.run(
            [*command, "/bin/sh", "-c", SHOWING],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0 and tried.stdout.decode("utf-8", "replace") == expected
