"""The environment variables that tools get (none with keys), and cgroup limits through systemd.

Cgroups are used only if systemd manages the user's session and delegates them.
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
VARIABLES = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")  # needed to reach systemd
FLAGS = ("--user", "--scope", "--quiet", "--collect")
PATIENCE = 10.0  # seconds
# For the interpreter and what tools load, which is unknown here: the supervisor measures that.
LOADING = 4096 * MEGABYTE
GUARDS = 16  # processes that are not the tools' own
# Prints the limits of the cgroup it runs in.
SHOWING = 'read -r own < /proc/self/cgroup && cd "/sys/fs/cgroup${own#0::}" && cat memory.max pids.max'


class Scope(msgspec.Struct, frozen=True):
    """The command prefix and the variables it needs; empty if there are no cgroups."""

    command: tuple[str, ...] = ()
    variables: dict[str, str] = {}


def cgroup_for(limits: Limits) -> Scope:
    """A cgroup with these limits for a command and its children; it is removed when they end."""
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
    """Whether it works with exactly these limits, which is tested by running it."""
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
# The same call should give the same result, and no files beside the tool's should change.
SETTLED = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
# Keeps frameworks from sending telemetry or prompting on a terminal.
QUIET = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "CREWAI_TESTING": "true",
    "DO_NOT_TRACK": "1",
    "OTEL_SDK_DISABLED": "true",
}


def environment_for(spec: str, conditions: CallConditions, home: str, temporary: str) -> dict[str, str]:
    """Allowed variables of our own environment, the user's additions, and locations for files.

    Variables that a file of MCP servers refers to are included, because it does not work without them.
    """
    named = _named_in(spec)
    kept = {name: value for name, value in os.environ.items() if _is_kept(name) or name in named}
    user_base = {"PYTHONUSERBASE": os.path.expanduser("~/.local")}  # its default depends on HOME
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
        return set()  # reported when it is loaded
