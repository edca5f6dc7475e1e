"""The store as an SQLite file, and the lock files of its runs."""

import hashlib
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import ModuleType

from misstep.errors import NoStoreYet, StoreError, StoreGone
from misstep.store.database import Database, DatabaseConnection, Hold, NotAStore, going_on

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

USUAL_FOLDER = ".misstep"
APPLICATION_ID = 0x6D737470  # "mstp", in the header of every store file

_TYPES = {
    "number": "INTEGER",
    "outcome_number": "INTEGER",
    "outcome_reference": "INTEGER",
    "bytes": "BLOB",
    "never_reused": " AUTOINCREMENT",
}
_REASONS = {
    "not a database": ("it is not a SQLite file",),
    "is full": ("the disk is full", "free some space; stored data is safe"),
    "disk I/O error": ("I/O error, or a file size limit", "stored data is safe"),
    "readonly database": ("the file or its folder is read-only",),
    "is locked": ("another process has been writing to it for too long",),
    "malformed": ("the file is damaged",),
}


class SqliteDatabase(Database):
    """An SQLite file with explicit transactions: writers queue, readers never wait for them."""

    types = _TYPES
    errors = sqlite3.Error

    def __init__(self, path: Path, location: str) -> None:
        super().__init__(location)
        self._path = Path(os.path.realpath(path))
        self._mode = "mode=rw"  # a file that was removed must not be recreated empty
        self._identity: tuple[int, int] | None = None

    def connect(self) -> DatabaseConnection:
        address = f"{self._path.as_uri()}?{self._mode}"
        connection = sqlite3.connect(address, uri=True, check_same_thread=False)
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")  # or one row breaks all
        connection.isolation_level = None  # the driver must not start transactions itself
        connection.execute("PRAGMA busy_timeout = 30000")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")  # a commit is on disk before it is acknowledged
        return DatabaseConnection(connection, write="BEGIN IMMEDIATE")

    def prepare(self, create: bool) -> None:
        if create:
            try:
                _make_folder(self._path.parent)
            except OSError as error:
                reason = error.strerror or str(error)
                raise StoreError("the store can't be created", reason, where=self.location) from error
            self._mode = "mode=rwc"
        elif not self._path.exists() or (self._path.is_file() and not self._path.stat().st_size):
            raise NoStoreYet(self.location)
        elif not os.access(self._path.parent, os.W_OK):
            log = self._path.with_name(f"{self._path.name}-wal")
            if not log.exists() or not log.stat().st_size:
                self._mode = "mode=ro&immutable=1"  # the log's files can't be created there

    def version(self, connection: DatabaseConnection) -> int:
        identity, version = _pragma(connection, "application_id"), _pragma(connection, "user_version")
        if identity == 0 and not connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table'"):
            return 0
        if identity != APPLICATION_ID:
            raise NotAStore("a database of some other program")
        return version

    def mark(self, connection: DatabaseConnection, version: int) -> None:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {version}")

    def settle(self) -> None:
        """Use write-ahead logging: readers see the last commit while a writer works on the next."""
        if "immutable" in self._mode:
            return
        self._mode = "mode=rw"
        self._identity = self._found()
        with self.connection() as connection, suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")

    def check(self) -> None:
        if self._identity is not None and self._found() != self._identity:
            what = "the store was deleted during the run"
            raise StoreGone(what, "earlier results are lost", where=self.location)

    @contextmanager
    def hold(self, run: str) -> Iterator[Hold]:
        try:
            with locked(self._lock_path(run)), self.connection() as connection:
                yield Hold(connection)
        except Locked as error:
            raise going_on(run, self.holder(run)) from error

    def is_held(self, run: str) -> bool:
        return is_locked(self._lock_path(run))

    def holder(self, run: str) -> int:
        return owner_of(self._lock_path(run))

    def explain(self, error: Exception) -> tuple[str, ...]:
        reason = str(error)
        return next((words for part, words in _REASONS.items() if part in reason), (reason,))

    def _found(self) -> tuple[int, int]:
        """Device and inode, which tell whether the file at the path was replaced."""
        try:
            status = os.stat(self._path)
        except OSError:
            return (0, 0)
        return (status.st_dev, status.st_ino)

    def _lock_path(self, run: str) -> Path:
        name = run if run.isalnum() else hashlib.blake2b(run.encode(), digest_size=8).hexdigest()
        return self._path.with_name(f"{self._path.name}-{name}.lock")


def _make_folder(folder: Path) -> None:
    """Create the folder of a store; git ignores the usual one, which is ours alone."""
    if folder.is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    if folder.name == USUAL_FOLDER:
        (folder / ".gitignore").write_text("*\n")


def _pragma(connection: DatabaseConnection, name: str) -> int:
    ((value,),) = connection.execute(f"PRAGMA {name}")
    return int(value)


_TRIES, _PAUSE = 100, 0.01  # a process that only checks a lock holds it for a moment
_held: set[int] = set()  # descriptors of this process's locks


class Locked(Exception):
    """Another process has the lock."""


def _let_go() -> None:
    """Close the copies of lock descriptors in a forked child, which would keep the parent's locks."""
    for descriptor in _held:
        with suppress(OSError):
            os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock; raises `Locked` if it is taken. Without lock support, proceed without one."""
    descriptor = _take(path)
    if descriptor is not None:
        _held.add(descriptor)
        os.write(descriptor, b"%d" % os.getpid())
    try:
        yield
    finally:
        if descriptor in _held:  # not in a forked child, which has released it
            _held.discard(descriptor)
            with suppress(OSError):
                path.unlink()  # before releasing it, so that a process that opened it sees that it is gone
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
    except OSError as error:
        return isinstance(error, BlockingIOError)
    finally:
        os.close(descriptor)
    return False


def _take(path: Path) -> int | None:
    if fcntl is None:
        return None
    for _ in range(_TRIES):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if not isinstance(error, BlockingIOError):
                return None
            time.sleep(_PAUSE)
            continue
        if _is_at(path, descriptor):
            return descriptor
        os.close(descriptor)  # its owner removed the file before releasing the lock
    raise Locked


def owner_of(path: Path) -> int:
    try:
        return int(path.read_bytes()[:20])
    except (OSError, ValueError):
        return 0


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False
