"""Folders on the disk in which tools work where no sandbox gives them one; none is left behind."""

import fcntl
import os
import re
import secrets
import tempfile
from contextlib import suppress

from misstep.tool_host.sandbox.removal import remove

NAME = re.compile(r"misstep-[0-9a-f]{16}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


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
