"""Keeps misstep working in a process that it shares with the user's agent.

What an agent replaces in the interpreter is restored whenever control returns to misstep, and recorded, so
that the case ends in an error. What could not be restored is refused: closing misstep's descriptors, a tiny
recursion limit. Deliberately hostile code needs a process of its own (`--python`).
"""

import builtins
import errno
import io
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

LEAST_RECURSION = 500
APART = "run it in a separate process with --python"
_MODULES: dict[str, Any] = {"json": json, "time": time, "os": os, "sys": sys}
_NAMES = {
    "json": ("dumps", "loads"),
    "time": ("time", "monotonic", "perf_counter", "sleep"),
    "os": ("fstat", "getpid", "stat", "write"),
    "sys": ("stdin", "stdout", "stderr"),
}
_STANDARD = (0, 1, 2)

_lock = threading.RLock()
_users = 0
_usual: dict[tuple[str, str], Any] = {}
_builtins: dict[str, Any] = {}
_copies: dict[int, int] = {}  # duplicates of the standard descriptors
_changes: list[str] = []
_owner = os.getpid()


@contextmanager
def protected() -> Iterator[None]:
    """Protect the process while user agents run; restores working directory and signal handlers after."""
    global _users
    folder = ""
    with suppress(OSError):
        folder = os.getcwd()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with _lock:
        _users += 1
        if _users == 1:
            _remember()
    refusing = _refusals()
    try:
        yield
    finally:
        restore()
        refusing()
        with _lock:
            _users -= 1
            if not _users:
                _forget()
        with suppress(OSError):
            if folder and os.getcwd() != folder:
                os.chdir(folder)
        for number, handler in handlers.items():
            if signal.getsignal(number) is not handler and handler is not None:
                with suppress(ValueError):  # only the main thread may set handlers
                    signal.signal(number, handler)


def restore() -> None:
    """Restore what has been replaced, and record it."""
    if not _users:
        return
    with _lock:
        found = vars(builtins)
        for name, value in _builtins.items():
            if found.get(name) is not value:
                found[name] = value
                _changes.append(f"builtins.{name}")
        for (module, name), value in _usual.items():
            if getattr(_MODULES[module], name, None) is not value:
                setattr(_MODULES[module], name, value)
                _changes.append(f"{module}.{name}")
        for descriptor, copy in _copies.items():
            _reopen(descriptor, copy)


def take_changes() -> list[str]:
    """What has been restored since the last call, each once."""
    restore()
    with _lock:
        found = list(dict.fromkeys(_changes))
        _changes.clear()
    return found


def _remember() -> None:
    _builtins.update({name: value for name, value in vars(builtins).items() if name != "_"})
    _usual.update({(m, name): getattr(_MODULES[m], name) for m, names in _NAMES.items() for name in names})
    for descriptor in _STANDARD:
        with suppress(OSError):
            _copies[descriptor] = os.dup(descriptor)


def _forget() -> None:
    _builtins.clear()
    _usual.clear()
    for copy in _copies.values():
        with suppress(OSError):
            os.close(copy)
    _copies.clear()


def _reopen(descriptor: int, copy: int) -> None:
    try:
        os.fstat(descriptor)
    except OSError:
        os.dup2(copy, descriptor)
        _changes.append(f"descriptor {descriptor}")
    name = ("stdin", "stdout", "stderr")[descriptor]
    stream = getattr(sys, name)
    if stream is not None and _is_closed(stream):
        raw = io.FileIO(descriptor, "r" if descriptor == 0 else "w", closefd=False)
        buffered: Any = io.BufferedReader(raw) if descriptor == 0 else io.BufferedWriter(raw)
        opened = io.TextIOWrapper(buffered, encoding="utf-8", errors="replace", line_buffering=True)
        setattr(sys, name, opened)
        _usual["sys", name] = opened
        _changes.append(f"sys.{name}")


def _is_closed(stream: Any) -> bool:
    try:
        return bool(getattr(stream, "closed", False))
    except ValueError:  # its buffer was detached
        return True


def refuse_closing() -> None:
    """Refuse to close a stream that an agent shares with misstep. A forked process may close it."""
    if os.getpid() == _owner:
        raise OSError(errno.EBADF, f"the standard streams are misstep's own; {APART}")


def _refusals() -> Callable[[], None]:
    """Refuse to close descriptors that are open now, and to set a recursion limit that is too low."""
    mine, owner = _open_descriptors(), os.getpid()
    close, closerange, limit = os.close, os.closerange, sys.setrecursionlimit

    def refuse_close(fd: int) -> None:
        ours = threading.current_thread() is threading.main_thread() or os.getpid() != owner
        if not ours and fd in mine and _identity(fd) == mine[fd]:
            raise OSError(errno.EBADF, f"descriptor {fd} is misstep's own; {APART}")
        close(fd)

    def refuse_range(low: int, high: int, /) -> None:
        if os.getpid() == owner and any(low <= fd < high and _identity(fd) == mine[fd] for fd in mine):
            raise OSError(errno.EBADF, f"descriptors from {low} to {high} are misstep's own; {APART}")
        closerange(low, high)

    def refuse_limit(limit_: int, /) -> None:
        if limit_ < LEAST_RECURSION:
            raise ValueError(f"a recursion limit of {limit_} is too low for misstep; {APART}")
        limit(limit_)

    os.close, os.closerange, sys.setrecursionlimit = refuse_close, refuse_range, refuse_limit

    def put_back() -> None:
        os.close, os.closerange, sys.setrecursionlimit = close, closerange, limit

    return put_back


def _open_descriptors() -> dict[int, tuple[int, int] | None]:
    """Open descriptors with device and inode, because a number may be reused for another file later."""
    found: list[int] = list(_STANDARD)
    for folder in ("/proc/self/fd", "/dev/fd"):
        with suppress(OSError):
            found = [int(name) for name in os.listdir(folder)]
            break
    return {fd: identity for fd in found if (identity := _identity(fd))}


def _identity(descriptor: int) -> tuple[int, int] | None:
    with suppress(OSError):
        status = os.fstat(descriptor)
        return status.st_dev, status.st_ino
    return None
