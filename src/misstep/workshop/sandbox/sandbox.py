"""The sandbox that tools are put into."""

import os

import msgspec

from misstep.errors import UsageError
from misstep.workshop.conditions import Conditions
from misstep.workshop.protocol import MEGABYTE
from misstep.workshop.sandbox.bubblewrap import find_bubblewrap, walls
from misstep.workshop.sandbox.environment import environment_for
from misstep.workshop.sandbox.ground import Ground, sweep
from misstep.workshop.sandbox.places import hidden_places, is_remote, needed_places, open_sockets

ROOT = "/tmp"
SHARED_MEMORY = "/dev/shm"
INSTALL = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap, …)"


class Sandbox(msgspec.Struct, frozen=True):
    """What to start a process with, and what to say about it.

    `command` is put before that of the process. Tools start in `folder`; `roots` are the folders that they
    can write to, of which the `ground` is on the disk. It `holds` if tools can do no harm in it; else
    `why_not` says what is missing.
    """

    words: str
    environment: dict[str, str]
    folder: str
    roots: tuple[str, ...]
    command: tuple[str, ...] = ()
    ground: Ground | None = None
    holds: bool = False
    why_not: str = ""

    def prepare(self) -> None:
        """Make what there is of it on the disk, with nothing in it, and clear away what others left there."""
        sweep()
        if self.ground:
            self.ground.claim()

    def remove(self) -> None:
        """Take away what was put on the disk for it."""
        if self.ground:
            self.ground.leave()


def sandbox_for(spec: str, conditions: Conditions) -> Sandbox:
    """The sandbox that is asked for, or the best one that there is; a `UsageError` if it can't be had."""
    for given in (conditions.workspace, conditions.folder):
        if given and not os.path.isdir(given):
            raise UsageError("there is no such folder", where=given)
    if conditions.shelter == "none":
        return _plain(spec, conditions, "")
    found = find_bubblewrap()
    if found.program:
        return _bubblewrap(spec, conditions, found.flags)
    if conditions.shelter == "bubblewrap":
        raise UsageError(f"there is no sandbox: {found.problem}", INSTALL)
    return _plain(spec, conditions, found.problem)


def _bubblewrap(spec: str, conditions: Conditions, flags: tuple[str, ...]) -> Sandbox:
    network = conditions.allow_network or is_remote(spec)
    reach = f"bubblewrap: {'with the' if network else 'no'} network"
    folder, home = f"{ROOT}/misstep/work", f"{ROOT}/misstep/home"
    limits = conditions.limits
    needed, hidden = needed_places(spec, conditions), [*hidden_places(), *open_sockets()]
    open_to = {conditions.folder: folder} if conditions.folder else {}
    command = walls(flags, needed, hidden, limits.disk, network, open_to)
    return Sandbox(
        words=", ".join((reach, "read-only system", _memory(conditions))),
        environment=environment_for(spec, conditions, home, ROOT),
        folder=folder,
        roots=(ROOT, SHARED_MEMORY),
        command=command,
        holds=True,
    )


def _plain(spec: str, conditions: Conditions, why_not: str) -> Sandbox:
    ground = Ground()
    root = ground.path
    return Sandbox(
        words=f"no sandbox: a process of its own, {_memory(conditions)}",
        environment=environment_for(spec, conditions, f"{root}/home", f"{root}/tmp"),
        folder=conditions.folder or f"{root}/work",
        roots=(root,),
        ground=ground,
        why_not=why_not,
    )


def _memory(conditions: Conditions) -> str:
    return f"{conditions.limits.memory // MEGABYTE:,} MB"
