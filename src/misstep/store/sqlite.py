"""The store as an SQLite file."""

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from misstep.errors import NoStoreYet, StoreError, StoreGone
from misstep.store.database import NotAStore, going_on
from misstep.store.run_writer import Locked, is_locked, locked, owner_of

APPLICATION_ID = 0x6D737470  # "mstp", in the header of every store file

_REASONS = {
    "not a database": ("it is not a SQLite file",),
    "is full": ("the disk is full", "make room; what was kept before is safe"),
    "disk I/O error": (
        "the disk refuses: I/O error, or a limit on file sizes",
        "what was kept before is safe",
    ),
    "readonly database": ("it can't be written: file or folder is read-only",),
    "is locked": ("another process has been writing to it for too long",),
    "malformed": ("the file is damaged",),
}


class SqliteDatabase:
    """An SQLite file with explicit transactions: writers queue, readers never wait for them."""

    def __init__(self, path: Path, location: str) -> None:
        self.location = location
        self._path = Path(os.path.realpath(path))
        self._mode = "mode=rw"  # a file that was removed must not be recreated empty
        self._identity: tuple[int, int] | None = None
        self.engine = sa.create_engine(
            "sqlite://", creator=self._connect, poolclass=sa.QueuePool, pool_reset_on_return=None
        )
        sa.event.listen(self.engine, "begin", _begin)

    def prepare(self, create: bool) -> None:
        if create:
            self._make_directory()
            self._mode = "mode=rwc"
        elif not self._path.exists() or (self._path.is_file() and not self._path.stat().st_size):
            raise NoStoreYet(self.location)
        elif not os.access(self._path.parent, os.W_OK) and not _has_log(self._path):
            self._mode = "mode=ro&immutable=1"  # the write-ahead log's files can't be created there

    def version(self, connection: sa.Connection) -> int:
        identity, version = _pragma(connection, "application_id"), _pragma(connection, "user_version")
        if identity == 0 and not sa.inspect(connection).get_table_names():
            return 0
        if identity != APPLICATION_ID:
            raise NotAStore("a database of some other program")
        return version

    def secure(self, connection: sa.Connection) -> None:
        """Nothing to do: a write transaction excludes other writers from the start."""

    def mark(self, connection: sa.Connection, version: int) -> None:
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.exec_driver_sql(f"PRAGMA user_version = {version}")

    def settle(self) -> None:
        """Use write-ahead logging: readers see the last commit while a writer works on the next."""
        if "immutable" in self._mode:
            return
        self._mode = "mode=rw"
        self._identity = self._found()
        with self.engine.connect() as connection, suppress(sqlite3.OperationalError):
            connection.connection.cursor().execute("PRAGMA journal_mode = WAL")

    def check(self) -> None:
        if self._identity is not None and self._found() != self._identity:
            raise StoreGone(
                "the store was removed while the run was going on",
                "what was kept before went with it",
                where=self.location,
            )

    @contextmanager
    def hold(self, run: str) -> Iterator["FileHold"]:
        try:
            with locked(self._lock_path(run)), self.engine.connect() as connection:
                yield FileHold(connection.execution_options(writing=True))
        except Locked as error:
            raise going_on(run, error.pid) from error

    def is_held(self, run: str) -> bool:
        return is_locked(self._lock_path(run))

    def holder(self, run: str) -> int:
        return owner_of(self._lock_path(run))

    def explain(self, error: Exception) -> tuple[str, ...]:
        reason = str(getattr(error, "orig", error))
        return next((words for part, words in _REASONS.items() if part in reason), (reason,))

    def _connect(self) -> sqlite3.Connection:
        address = f"{self._path.as_uri()}?{self._mode}"
        connection = sqlite3.connect(address, uri=True, check_same_thread=False)
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")  # or one row breaks all
        connection.isolation_level = None  # the driver must not start transactions itself
        connection.execute("PRAGMA busy_timeout = 30000")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")  # a commit is on disk before it is acknowledged
        return connection

    def _make_directory(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError("the store can't be made", reason, where=self.location) from error

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


class FileHold:
    """The right to a run, tied to a lock file."""

    def __init__(self, connection: sa.Connection) -> None:
        self.connection = connection

    def renew(self) -> None:
        """Nothing to do: a lock file can't be lost like a connection."""


def _has_log(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


def _begin(connection: sa.Connection) -> None:
    writing = connection.get_execution_options().get("writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _pragma(connection: sa.Connection, name: str) -> int:
    value: Any = connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
    return int(value)
