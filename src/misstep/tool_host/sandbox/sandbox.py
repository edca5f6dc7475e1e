"""Sets up the sandbox for tools."""

import os
import sys

import msgspec

from misstep.adapters.toolset.spec import servers_meant
from misstep.errors import UsageError
from misstep.tool_host.protocol import MEGABYTE, CallConditions
from misstep.tool_host.sandbox.bubblewrap import Word, find_bubblewrap, walls
from misstep.tool_host.sandbox.environment import Scope, cgroup_for, environment_for
from misstep.tool_host.sandbox.places import is_remote, places_for
from misstep.tool_host.sandbox.scratch_dir import ScratchDir, sweep

ROOT = "/tmp"
SHARED_MEMORY = "/dev/shm"
INSTALL = (
    "install bubblewrap: apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap"
    if sys.platform == "linux"
    else "bubblewrap runs on Linux only"
)
WITHOUT = 'to call tools without a sandbox: --sandbox none, or sandbox = "none" in misstep.toml'


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
        """Remove its folder from disk."""
        if self.scratch_dir:
            self.scratch_dir.leave()


def sandbox_for(spec: str, conditions: CallConditions) -> Sandbox:
    """The sandbox for these conditions. Raises `UsageError` if it is unavailable and not turned off."""
    for given in (conditions.workspace, conditions.folder):
        if given and not os.path.isdir(given):
            raise UsageError("there is no such folder", where=given)
    for path in conditions.allow_read:
        if not os.path.exists(os.path.expanduser(path)):
            raise UsageError("there is no such file or folder", where=f"--allow-read {path}")
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
        raise UsageError(f"no sandbox reaches the tools of {remote[0]}: they run on that server", WITHOUT)


def _bubblewrap(spec: str, conditions: CallConditions, flags: tuple[Word, ...]) -> Sandbox:
    network = conditions.allow_network or is_remote(spec)
    reach = f"bubblewrap: {'with the' if network else 'no'} network"
    folder, home = f"{ROOT}/misstep/work", f"{ROOT}/misstep/home"
    limits = conditions.limits
    places = places_for(spec, conditions, network)
    open_to = {conditions.folder: folder} if conditions.folder else {}
    scope = cgroup_for(limits)
    unset = [word for name in scope.variables for word in ("--unsetenv", name)]
    command = walls((*flags, *unset), places.shown, places.hidden, limits.disk, network, open_to)
    return Sandbox(
        words=", ".join((reach, "read-only system", _memory(conditions), *_by(scope))),
        environment={**environment_for(spec, conditions, home, ROOT), **scope.variables},
        folder=folder,
        roots=(ROOT, SHARED_MEMORY),
        command=(*scope.command, *command),
    )


def _plain(spec: str, conditions: CallConditions) -> Sandbox:
    scratch_dir = ScratchDir()
    root = scratch_dir.path
    return Sandbox(
        words=f"no sandbox: a process of its own, {_memory(conditions)}",
        environment=environment_for(spec, conditions, f"{root}/home", f"{root}/tmp"),
        folder=conditions.folder or f"{root}/work",
        roots=(root,),
        scratch_dir=scratch_dir,
    )


def _by(scope: Scope) -> tuple[str, ...]:
    return ("limits by cgroup",) if scope.command else ()


def _memory(conditions: CallConditions) -> str:
    return f"{conditions.limits.memory // MEGABYTE:,} MB"
