"""A lock file that a dead process can't leave locked."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_TRIES, _PAUSE = 100, 0.01  # who merely looks whether a lock is held has it for a moment
_held: set[int] = set()  # descriptors of the locks of this process


class Locked(Exception):
    """Somebody else has the lock; `pid` is the process that wrote its number into the file, 0 if none did."""

    def __init__(self, pid: int = 0) -> None:
        super().__init__(pid)
        self.pid = pid


def _let_go() -> None:
    """A forked child shares the locks of its parent until it closes its copies of the descriptors."""
    for descriptor in _held:
        with suppress(OSError):
            os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock; `Locked` if somebody has it. Where there are no locks to be had, do without."""
    descriptor = _take(path)
    if descriptor is not None:
        _held.add(descriptor)
        os.write(descriptor, b"%d" % os.getpid())
    try:
        yield
    finally:
        if descriptor in _held:  # not in a forked child, which has let go of it
            _held.discard(descriptor)
            with suppress(OSError):
                path.unlink()  # before it is released: whoever opened it meanwhile sees that it is gone
            with suppress(OSError):
                os.close(descriptor)


def is_locked(path: Path) -> bool:
    if fcntl is None:
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _take(path: Path) -> int | None:
    for _ in range(_TRIES):
        try:
            descriptor = _try_once(path)
        except BlockingIOError:
            time.sleep(_PAUSE)
            continue
        except OSError:
            return None
        if descriptor is None or _is_at(path, descriptor):
            return descriptor
        os.close(descriptor)  # its owner removed the file before letting go
    raise Locked(owner_of(path))


def owner_of(path: Path) -> int:
    """The process that has the lock, as far as its file says."""
    try:
        return int(path.read_bytes()[:20])
    except (OSError, ValueError):
        return 0


def _try_once(path: Path) -> int | None:
    if fcntl is None:
        return None
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False
