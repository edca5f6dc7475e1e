"""Builds bubblewrap command lines, which isolate files, processes and the network."""

import functools
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TypeAlias

import msgspec

from misstep.tool_host.protocol import MEGABYTE
from misstep.tool_host.sandbox.seccomp import call_filter

PROGRAM = "bwrap"
PATIENCE = 20.0  # seconds
SHARED_MEMORY = 64 * MEGABYTE
TEMPORARY = "/tmp"
HOME = f"{TEMPORARY}/misstep/home"
EMPTY = str(1 << 16)  # size in bytes of the empty folder that replaces a hidden one
# Not isolated by namespaces, and root inside may be root for these.
OF_THE_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/mtrr", "/proc/acpi", "/proc/scsi", "/proc/fs")
# Not --die-with-parent, which depends on the thread that started it. The supervisor ends with its channel.
APART = ("--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--new-session", "--as-pid-1")
NO_MORE_NAMESPACES = "--disable-userns"  # since 0.8, unless it is installed setuid root
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store")

Word: TypeAlias = str | bytes  # bytes stand for an open file with this content


class BubblewrapProgram(msgspec.Struct, frozen=True):
    """The program's path and the flags that work here, or the problem."""

    flags: tuple[Word, ...] = ()
    problem: str = ""


class FolderCopy(msgspec.Struct, frozen=True):
    """A small folder that a process can change without changing the original.

    Its `folders`, `files` and symbolic `links` are copied, and `mounted` folders in it stay read-only.
    """

    path: str
    folders: tuple[str, ...]
    files: tuple[str, ...]
    links: tuple[str, ...] = ()
    mounted: tuple[str, ...] = ()


def find_bubblewrap() -> BubblewrapProgram:
    """Bubblewrap, if it is installed and works here, which is tested by running it."""
    program = shutil.which(PROGRAM)
    return _tried(program) if program else BubblewrapProgram(problem="bubblewrap is not installed")


@functools.cache
def _tried(program: str) -> BubblewrapProgram:
    calls = call_filter()
    if calls is None:
        return BubblewrapProgram(problem=f"there is no system call filter for {os.uname().machine}")
    problem = ""
    for more in ((NO_MORE_NAMESPACES,), ()):
        flags = (program, *APART, *more, "--seccomp", calls)
        if not (problem := _try(flags)):
            return BubblewrapProgram(flags)
    return BubblewrapProgram(problem=f"bubblewrap does not work here: {problem}")


def walls(
    flags: Sequence[Word],
    shown: Iterable[str],
    hidden: Iterable[str],
    disk: int,
    network: bool,
    open_to: Mapping[str, str],
    copies: Sequence[FolderCopy] = (),
) -> tuple[Word, ...]:
    """The command prefix for a process that sees only the files that are `shown`.

    These are read-only, and what is `hidden` in them is empty. The process can write `disk` bytes to /tmp,
    and some to shared memory. `open_to` maps folders to the names under which it can write to them. Of
    `copies`, it can change what it sees.
    """
    sharing = ("--share-net",) if network else ()
    bound = [word for folder, name in open_to.items() for word in ("--bind", folder, name)]
    copied = [word for copy in copies for word in _copied(copy, disk)]
    mounts = (*_devices(disk), *_accounts(), *_mounts(shown, hidden), *copied, *bound)
    return (*flags, *sharing, *mounts, "--remount-ro", "/", "--")


@contextmanager
def opened(command: Sequence[Word]) -> Iterator[tuple[list[str], list[int]]]:
    """The command with descriptors of open files filled in, and these descriptors; closed afterwards."""
    words, numbers = list[str](), list[int]()
    try:
        for word in command:
            if isinstance(word, bytes):
                number = os.memfd_create("misstep")
                numbers.append(number)
                os.write(number, word)
                os.lseek(number, 0, os.SEEK_SET)
                word = str(number)
            words.append(word)
        yield words, numbers
    finally:
        for number in numbers:
            os.close(number)


def run_quietly(
    command: Sequence[str], patience: float, files: Sequence[int] = ()
) -> subprocess.CompletedProcess[bytes]:
    nothing = subprocess.DEVNULL
    return subprocess.run(command, stdin=nothing, capture_output=True, timeout=patience, pass_fds=files)


def _try(flags: Sequence[Word]) -> str:
    true = shutil.which("true") or "/bin/true"
    try:
        with opened([*walls(flags, SYSTEM, (), MEGABYTE, False, {}), true]) as (command, files):
            tried = run_quietly(command, PATIENCE, files)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = tried.stderr.decode("utf-8", "replace").strip().splitlines()
    return "" if tried.returncode == 0 else (said[-1] if said else f"status {tried.returncode}")


def _devices(disk: int) -> Iterator[Word]:
    yield from ("--dev", "/dev")
    yield from ("--size", str(SHARED_MEMORY), "--perms", "1777", "--tmpfs", "/dev/shm")
    yield from ("--remount-ro", "/dev", "--proc", "/proc")
    for path in OF_THE_KERNEL:
        yield from ("--ro-bind-try", path, path)
    yield from ("--size", str(disk), "--perms", "1777", "--tmpfs", TEMPORARY)
    yield from ("--dir", "/run", "--dir", "/var", "--symlink", TEMPORARY, "/var/tmp")
    yield from ("--hostname", "sandbox")


def _accounts() -> Iterator[Word]:
    """Only this user, because programs look up the name and home of their user."""
    user, group = os.getuid(), os.getgid()
    name = "user" if user else "root"
    nobody = "nobody:x:65534:65534::/nonexistent:/bin/false\n"
    yield from ("--ro-bind-data", f"{name}:x:{user}:{group}::{HOME}:/bin/sh\n{nobody}".encode())
    yield "/etc/passwd"
    yield from ("--ro-bind-data", f"{name}:x:{group}:\nnogroup:x:65534:\n".encode(), "/etc/group")


def _mounts(shown: Iterable[str], hidden: Iterable[str]) -> Iterator[str]:
    """Mount what is shown and cover what is hidden, from the outside in."""
    wanted = {**dict.fromkeys(filter(os.path.exists, shown), True), **dict.fromkeys(hidden, False)}
    places: dict[str, bool] = {"/": False, TEMPORARY: False}
    empty = list[str]()
    for path, is_shown in sorted(wanted.items()):
        if is_shown == _innermost(path, places):
            continue
        places[path] = is_shown
        if is_shown and os.path.islink(path) and _innermost(os.path.realpath(path), wanted):
            yield from ("--symlink", os.readlink(path), path)  # its target is shown as well
        elif is_shown:
            yield from ("--ro-bind", path, path)
        elif os.path.isdir(path):
            yield from ("--size", EMPTY, "--tmpfs", path)
            empty.append(path)
        else:
            yield from ("--ro-bind", os.devnull, path)
    for path in empty:
        yield from ("--remount-ro", path)


def _copied(copy: FolderCopy, disk: int) -> Iterator[Word]:
    yield from ("--size", str(disk), "--tmpfs", copy.path)
    for path in copy.folders:
        yield from ("--dir", path)
    for path in copy.files:
        with suppress(OSError), open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode & 0o777
            yield from ("--perms", f"{mode:04o}", "--file", file.read(), path)
    for path in copy.links:
        with suppress(OSError):
            yield from ("--symlink", os.readlink(path), path)
    for path in copy.mounted:
        yield from ("--ro-bind", path, path)


def _innermost(path: str, places: Mapping[str, bool]) -> bool:
    """Whether the innermost listed place that contains the path is shown."""
    while path not in places:
        if path == "/":
            return False
        path = os.path.dirname(path)
    return places[path]
