"""Folders on disk for tools without a sandbox, which are always removed again, whatever is in them."""

import errno
import fcntl
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import count, filterfalse

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def empty(path: str) -> None:
    """Remove everything in a folder, without recursion or long paths. Raises `OSError` if that fails."""
    os.chmod(path, 0o700)
    root = os.open(path, _FOLDER)
    try:
        names = (f"misstep-{number}" for number in count(1))
        taken = partial(os.access, mode=os.F_OK, dir_fd=root, follow_symlinks=False)
        free = filterfalse(taken, names)
        while _pass_over(root, free):
            pass
        if left := os.listdir(root):
            raise OSError(errno.ENOTEMPTY, "can't be removed", os.path.join(path, left[0]))
    finally:
        os.close(root)


def remove(path: str) -> None:
    """Remove a folder and everything in it, as far as possible."""
    with suppress(OSError):
        empty(path)
    with suppress(OSError):
        os.rmdir(path)


def _pass_over(root: int, free: Iterator[str]) -> bool:
    """Remove what can be removed and move the rest up, to `free` names. Returns whether anything changed."""
    changed = False
    for name in os.listdir(root):
        with suppress(OSError):
            if _is_folder(name, root):
                _unfold(name, root, free)
                os.rmdir(name, dir_fd=root)
            else:
                os.unlink(name, dir_fd=root)
            changed = True
    return changed


def _unfold(name: str, root: int, free: Iterator[str]) -> None:
    """Empty a folder: delete its files and move its subfolders up to its own level."""
    os.chmod(name, 0o700, dir_fd=root)
    folder = os.open(name, _FOLDER, dir_fd=root)
    try:
        for each in os.listdir(folder):
            with suppress(OSError):
                if _is_folder(each, folder):
                    os.chmod(each, 0o700, dir_fd=folder)  # otherwise it cannot be moved
                    os.rename(each, next(free), src_dir_fd=folder, dst_dir_fd=root)
                else:
                    os.unlink(each, dir_fd=folder)
    finally:
        os.close(folder)


def _is_folder(name: str, place: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode)


NAME = re.compile(r"misstep-[0-9a-f]{16}")


class ScratchDir:
    """A folder that stays locked while this process is alive and uses it; the system releases the lock."""

    def __init__(self) -> None:
        self.path = os.path.join(_temporary(), f"misstep-{secrets.token_hex(8)}")
        self._lock: int | None = None

    def claim(self) -> None:
        """Create the folder anew and empty."""
        self.leave()
        while self._lock is None:
            os.mkdir(self.path, 0o700)
            with suppress(FileNotFoundError):  # it was removed by `sweep` before it was locked
                self._lock = _locked(self.path, fcntl.LOCK_EX)

    def leave(self) -> None:
        remove(self.path)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def sweep() -> None:
    """Remove folders of this user's processes that ended without doing so."""
    for name in filter(NAME.fullmatch, os.listdir(_temporary())):
        path = os.path.join(_temporary(), name)
        with suppress(OSError):  # it is in use, not a folder, or being removed by another process
            lock = _locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
            try:
                if os.fstat(lock).st_uid == os.geteuid():
                    remove(path)
            finally:
                os.close(lock)


def _temporary() -> str:
    return os.path.realpath(tempfile.gettempdir())


def _locked(path: str, how: int) -> int:
    """Open and lock the folder that is at this path now. Raises `OSError`."""
    folder = os.open(path, _FOLDER)
    try:
        fcntl.flock(folder, how)
        if not os.path.samestat(os.fstat(folder), os.lstat(path)):
            raise FileNotFoundError(path)
    except BaseException:
        os.close(folder)
        raise
    return folder
