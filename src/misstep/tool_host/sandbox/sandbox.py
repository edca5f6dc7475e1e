"""Sets up the sandbox for tools, with variables that hold no keys, and cgroups where systemd has them."""

import functools
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from misstep.adapters.mcp.packages import FOLDER, cache_folder
from misstep.adapters.toolset.spec import file_of, servers_meant
from misstep.core.secrets import CANARY, SECRET_VARIABLE
from misstep.errors import UsageError
from misstep.tool_host.protocol import MEGABYTE, CallConditions, Limits
from misstep.tool_host.sandbox.bubblewrap import HOME, TEMPORARY, Word, find_bubblewrap, run_quietly, walls
from misstep.tool_host.sandbox.copies import copies_for
from misstep.tool_host.sandbox.places import is_remote, places_for
from misstep.tool_host.sandbox.scratch_dir import ScratchDir, sweep
from misstep.tool_host.serving.process_tree import THREADS

SHARED_MEMORY = "/dev/shm"
INSTALL = (
    "install bubblewrap: apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap"
    if sys.platform == "linux"
    else "bubblewrap runs on Linux only"
)
WITHOUT = 'to run tools without a sandbox, use --sandbox none, or sandbox = "none" in misstep.toml'


class Sandbox(msgspec.Struct, frozen=True):
    """How to start a process in the sandbox, and a description of it.

    `command` is the prefix of the process's command. Tools start in `folder`; `roots` are the folders they
    can write to, of which `scratch_dir` is on disk.
    """

    words: str
    environment: dict[str, str]
    folder: str
    roots: tuple[str, ...]
    command: tuple[Word, ...] = ()
    scratch_dir: ScratchDir | None = None

    def prepare(self) -> None:
        """Create its empty folder on disk, if it has one, and remove abandoned ones."""
        sweep()
        if self.scratch_dir:
            self.scratch_dir.claim()

    def remove(self) -> None:
        if self.scratch_dir:
            self.scratch_dir.leave()


def sandbox_for(spec: str, conditions: CallConditions) -> Sandbox:
    """The sandbox for these conditions. Raises `UsageError` if it is unavailable and not turned off."""
    for given in (conditions.workspace, conditions.folder):
        if given and not os.path.isdir(given):
            raise UsageError("no such folder", where=given)
    for path in conditions.allow_read:
        if not os.path.exists(os.path.expanduser(path)):
            raise UsageError("no such file or folder", where=f"--allow-read {path}")
    if conditions.shelter == "none":
        return _plain(spec, conditions)
    found = find_bubblewrap()
    if found.problem:
        raise UsageError(f"there is no sandbox for the tools: {found.problem}", INSTALL, WITHOUT)
    return _bubblewrap(spec, conditions, found.flags)


def refuse_remote(spec: str, conditions: CallConditions) -> None:
    """Raise `UsageError` for a remote server, unless the sandbox is turned off."""
    remote = [server.url for server in servers_meant(spec) or () if server.url]
    if remote and conditions.shelter != "none":
        raise UsageError(f"the tools of {remote[0]} run on that server, outside any sandbox", WITHOUT)


def _bubblewrap(spec: str, conditions: CallConditions, flags: tuple[Word, ...]) -> Sandbox:
    network = conditions.allow_network or is_remote(spec)
    reach = f"bubblewrap: {'with the' if network else 'no'} network"
    folder = f"{TEMPORARY}/misstep/work"
    limits = conditions.limits
    shown, hidden = places_for(spec, conditions, network)
    open_to = {conditions.folder: folder} if conditions.folder else {}
    scope = cgroup_for(limits)
    unset = [word for name in scope.variables for word in ("--unsetenv", name)]
    copies = copies_for(spec, hidden)
    command = walls((*flags, *unset), shown, hidden, limits.disk, network, open_to, copies)
    by_cgroup = ("limits by cgroup",) if scope.command else ()
    return Sandbox(
        words=", ".join((reach, "read-only system", _memory(limits), *by_cgroup)),
        environment={**environment_for(spec, conditions, HOME, TEMPORARY), **scope.variables},
        folder=folder,
        roots=(TEMPORARY, SHARED_MEMORY, *(copy.path for copy in copies)),
        command=(*scope.command, *command),
    )


def _plain(spec: str, conditions: CallConditions) -> Sandbox:
    scratch_dir = ScratchDir()
    root = scratch_dir.path
    return Sandbox(
        words=f"no sandbox: a separate process, {_memory(conditions.limits)}",
        environment=environment_for(spec, conditions, f"{root}/home", f"{root}/tmp"),
        folder=conditions.folder or f"{root}/work",
        roots=(root,),
        scratch_dir=scratch_dir,
    )


def _memory(limits: Limits) -> str:
    return f"{limits.memory // MEGABYTE:,} MB"


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
        tried = run_quietly([*command, "/bin/sh", "-c", SHOWING], PATIENCE)
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
# Looks like a key, but isn't.
PLANTED = {"CANARY_API_KEY": CANARY}
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
    known = {name for name in os.environ if name in KEPT or name.startswith(KEPT_FAMILIES)}
    allowed = named | {name for name in known if not SECRET_VARIABLE.search(name)}
    kept = {name: value for name, value in os.environ.items() if name in allowed}
    user_base = {"PYTHONUSERBASE": os.path.expanduser("~/.local")}  # its default depends on HOME
    places = {
        "HOME": home,
        "TMPDIR": temporary,
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
        FOLDER: str(cache_folder()),
    }
    return {**QUIET, **PLANTED, **user_base, **kept, **SETTLED, **places, **conditions.environment}


def _named_in(spec: str) -> set[str]:
    with suppress(OSError, ValueError):  # reported when it is loaded
        if (file := file_of(spec)).endswith(".json"):
            return set(_VARIABLE.findall(Path(file).read_text(encoding="utf-8")))
    return set()
