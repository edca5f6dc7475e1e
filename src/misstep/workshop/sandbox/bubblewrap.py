"""Command lines of bubblewrap, which gives processes a system of their own that they can't change."""

import functools
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from misstep.workshop.protocol import MEGABYTE

PROGRAM = "bwrap"
PATIENCE = 20.0  # seconds
SHARED_MEMORY = 64 * MEGABYTE
TEMPORARY = "/tmp"
EMPTY = str(1 << 16)  # bytes of a folder in the place of a hidden one
# Root inside may still be root to these, which no namespace keeps apart.
OF_THE_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/mtrr", "/proc/acpi", "/proc/scsi", "/proc/fs")
# Not --die-with-parent: that goes by the thread that has started it. The warden ends with its line instead.
APART = ("--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--new-session", "--as-pid-1")
NAME_SERVICE = ("/run/systemd/resolve", "/run/resolvconf")  # where the system looks names up
NO_MORE_NAMESPACES = "--disable-userns"  # from 0.8 on, and not where it is installed with the rights of root


class Found(msgspec.Struct, frozen=True):
    """The program with the flags that work here; or what the problem is."""

    program: str = ""
    flags: tuple[str, ...] = ()
    problem: str = ""


@functools.cache
def find_bubblewrap() -> Found:
    """Bubblewrap, if it is installed and the system lets it do its work, which is found out by trying."""
    program = shutil.which(PROGRAM)
    if not program:
        return Found(problem="bubblewrap is not installed")
    problem = ""
    for more in ((NO_MORE_NAMESPACES,), ()):
        flags = (program, *APART, *more)
        problem = _try(flags)
        if not problem:
            return Found(program, flags)
    return Found(problem=f"bubblewrap does not work here: {problem}")


def walls(
    flags: Sequence[str],
    needed: Sequence[str],
    hidden: Sequence[str],
    disk: int,
    network: bool,
    open_to: Mapping[str, str],
) -> tuple[str, ...]:
    """What to put before a command, so that it sees the system but can't change it.

    It can write to /tmp and to shared memory, so many bytes. Places that are `hidden` are empty, but what is
    `needed` can be read wherever it is. It is `open_to` folders under other names, which it can write to.
    """
    shown = [*needed, *(NAME_SERVICE if network else ())]
    sharing = ("--share-net",) if network else ()
    bound = [word for folder, name in open_to.items() for word in ("--bind", folder, name)]
    return (*flags, *sharing, *_system(disk), *_hiding(shown, hidden), *bound, "--")


def _try(flags: Sequence[str]) -> str:
    try:
        tried = subprocess.run(
            [*flags, *_system(MEGABYTE), "--", shutil.which("true") or "/bin/true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = tried.stderr.decode("utf-8", "replace").strip().splitlines()
    return "" if tried.returncode == 0 else (said[-1] if said else f"status {tried.returncode}")


def _system(disk: int) -> Iterator[str]:
    yield from ("--ro-bind", "/", "/", "--dev", "/dev")
    yield from ("--size", str(SHARED_MEMORY), "--perms", "1777", "--tmpfs", "/dev/shm")
    yield from ("--remount-ro", "/dev", "--proc", "/proc")
    for path in OF_THE_KERNEL:
        yield from ("--ro-bind-try", path, path)
    yield from ("--size", str(disk), "--perms", "1777", "--tmpfs", TEMPORARY)
    yield from ("--hostname", "sandbox")


def _hiding(needed: Sequence[str], hidden: Sequence[str]) -> Iterator[str]:
    """Put nothing in the place of what is hidden, and back what is needed of it, from outside in."""
    wanted = {**dict.fromkeys(filter(os.path.exists, needed), True), **dict.fromkeys(hidden, False)}
    places: dict[str, bool] = {"/": True, TEMPORARY: False}
    for path, is_shown in sorted(wanted.items()):
        if is_shown != _innermost(path, places):
            places[path] = is_shown
            yield from _shown(path) if is_shown else _hidden(path)
    for path, is_shown in places.items():
        if not is_shown and path != TEMPORARY and os.path.isdir(path):
            yield from ("--remount-ro", path)


def _innermost(path: str, places: dict[str, bool]) -> bool:
    """Whether the smallest of the places that a path is in or is itself can be seen."""
    while path not in places:
        path = os.path.dirname(path)
    return places[path]


def _shown(path: str) -> tuple[str, ...]:
    return "--ro-bind", path, path


def _hidden(path: str) -> tuple[str, ...]:
    return ("--size", EMPTY, "--tmpfs", path) if os.path.isdir(path) else ("--ro-bind", os.devnull, path)
