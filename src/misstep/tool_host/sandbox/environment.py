"""The variables that tools get to see: none that hold keys.

Limits by cgroup, where systemd manages the user's session and lets it have cgroups of its own.
"""

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

import msgspec

from misstep.core.secrets import SECRET_VARIABLE
from misstep.tool_host.protocol import MEGABYTE, CallConditions, Limits
from misstep.tool_host.serving.process_tree import THREADS

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


KEPT = (
    *("PATH", "LANG", "LANGUAGE", "TZ", "TERM", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "NIX_LD", "NIX_LD_LIBRARY_PATH", "NODE_PATH", "JAVA_HOME"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
)
KEPT_FAMILIES = ("LC_", "PYTHON", "PYENV_", "NVM_")
_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)")
# The same call is to come to the same, and files beside the tool's are not to change.
SETTLED = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
# What frameworks would otherwise send to their makers, or ask somebody at a terminal.
QUIET = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "CREWAI_TESTING": "true",
    "DO_NOT_TRACK": "1",
    "OTEL_SDK_DISABLED": "true",
}


def environment_for(spec: str, conditions: CallConditions, home: str, temporary: str) -> dict[str, str]:
    """What stays of our own environment, with what the user adds and where tools may keep files.

    Variables that a file of servers names are there too: it would mean nothing without them.
    """
    named = _named_in(spec)
    kept = {name: value for name, value in os.environ.items() if _is_kept(name) or name in named}
    user_base = {"PYTHONUSERBASE": os.path.expanduser("~/.local")}  # which goes by the home
    places = {
        "HOME": home,
        "TMPDIR": temporary,
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
    }
    return {**QUIET, **user_base, **kept, **SETTLED, **places, **conditions.environment}


def _is_kept(name: str) -> bool:
    return (name in KEPT or name.startswith(KEPT_FAMILIES)) and not SECRET_VARIABLE.search(name)


def _named_in(spec: str) -> set[str]:
    if not spec.endswith(".json"):
        return set()
    try:
        return set(_VARIABLE.findall(Path(spec).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return set()  # which will be told of when it is loaded
