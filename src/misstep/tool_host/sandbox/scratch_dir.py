"""Folders on the disk in which tools work where no sandbox gives them one; none is left behind.

Removes folders that tools have worked in, whatever they have made there: no rights, depth, long paths.
"""

import errno
import fcntl
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def empty(path: str) -> None:
    """Remove all that is in a folder. Raises an `OSError` if something can't be removed.

    No path gets longer than a few names, and nothing calls itself: what is inside of folders inside is moved
    up first.
    """
    os.chmod(path, 0o700)
    root = os.open(path, _FOLDER)
    try:
        numbers = _numbers(root)
        while _pass_over(root, lambda: next(numbers)):
            pass
        if left := os.listdir(root):
            raise OSError(errno.ENOTEMPTY, "can't be removed", os.path.join(path, left[0]))
    finally:
        os.close(root)


def remove(path: str) -> None:
    """Remove a folder with all that is in it, as far as that can be done."""
    with suppress(OSError):
        empty(path)
    with suppress(OSError):
        os.rmdir(path)


def _pass_over(root: int, new_name: Callable[[], str]) -> bool:
    """Remove what can be at once, and bring the rest nearer; whether anything has changed."""
    changed = False
    for name in os.listdir(root):
        with suppress(OSError):
            if _is_folder(name, root):
                _unfold(name, root, new_name)
                os.rmdir(name, dir_fd=root)
            else:
                os.unlink(name, dir_fd=root)
            changed = True
    return changed


def _unfold(name: str, root: int, new_name: Callable[[], str]) -> None:
    """Take everything out of a folder: files go, folders come up to where it is itself."""
    os.chmod(name, 0o700, dir_fd=root)
    folder = os.open(name, _FOLDER, dir_fd=root)
    try:
        for each in os.listdir(folder):
            with suppress(OSError):
                if _is_folder(each, folder):
                    os.chmod(each, 0o700, dir_fd=folder)  # or it can't be moved
                    os.rename(each, new_name(), src_dir_fd=folder, dst_dir_fd=root)
                else:
                    os.unlink(each, dir_fd=folder)
    finally:
        os.close(folder)


def _is_folder(name: str, place: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode)


def _numbers(root: int) -> Iterator[str]:
    """Names that nothing in the folder has."""
    number = 0
    while True:
        number += 1
        name = f"misstep-{number}"
        if not os.access(name, os.F_OK, dir_fd=root, follow_symlinks=False):
            yield name


NAME = re.compile(r"misstep-[0-9a-f]{16}")


class ScratchDir:
    """A folder that is locked as long as this process lives and has not left it: the system sees to that."""

    def __init__(self) -> None:
        self.path = os.path.join(_temporary(), f"misstep-{secrets.token_hex(8)}")
        self._lock: int | None = None

    def claim(self) -> None:
        """Make the folder anew, with nothing in it."""
        self.leave()
        while self._lock is None:
            os.mkdir(self.path, 0o700)
            with suppress(FileNotFoundError):  # it was swept away before it was locked
                self._lock = _locked(self.path, fcntl.LOCK_EX)

    def leave(self) -> None:
        """Remove the folder with all that is in it."""
        remove(self.path)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def sweep() -> None:
    """Remove the folders that processes of this user have left behind which did not live to do so."""
    for name in filter(NAME.fullmatch, os.listdir(_temporary())):
        path = os.path.join(_temporary(), name)
        with suppress(OSError):  # somebody lives in it, it is no folder, or another one is faster
            lock = _locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
            try:
                if os.fstat(lock).st_uid == os.geteuid():
                    remove(path)
            finally:
                os.close(lock)


def _temporary() -> str:
    return os.path.realpath(tempfile.gettempdir())


def _locked(path: str, how: int) -> int:
    """The folder that is at this path now, open and locked. Raises an `OSError`."""
    folder = os.open(path, _FOLDER)
    try:
        fcntl.flock(folder, how)
        if not os.path.samestat(os.fstat(folder), os.lstat(path)):
            raise FileNotFoundError(path)
    except BaseException:
        os.close(folder)
        raise
    return folder
