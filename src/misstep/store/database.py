"""Connections, the interface of a database, transactions with user-facing errors, and creation of tables."""

import time
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from typing import Any, TypeVar

import msgspec

from misstep.errors import NoStoreYet, StoreError, UsageError
from misstep.store.tables import CHECKS, STORE_VERSION, OddValue, creation

T = TypeVar("T")

PAUSES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0)  # seconds between retries while a server restarts


class NotAStore(Exception):
    """The location holds something else; the message says what."""


class DatabaseConnection:
    """A connection, for one thread at a time; a statement has a `?` for each value, whatever the database.

    `driver` is a connection of the database's own library that starts no transactions by itself.
    """

    def __init__(self, driver: Any, placeholder: str = "?", write: str = "BEGIN") -> None:
        self._driver, self._placeholder, self._write = driver, placeholder, write

    @property
    def is_lost(self) -> bool:
        """Whether it was closed, by us or by a server."""
        return getattr(self._driver, "closed", False)

    def close(self) -> None:
        self._driver.close()

    @contextmanager
    def begin(self, writing: bool = False) -> Iterator[None]:
        """A transaction, which takes place if no exception leaves it."""
        self.execute(self._write if writing else "BEGIN")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            with suppress(Exception):  # it may have ended with the connection
                self.execute("ROLLBACK")
            raise

    def execute(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """Run a statement; returns its rows, if any, as the driver gives them."""
        cursor = self._run(statement, values)
        return cursor.fetchall() if cursor.description else []

    def execute_many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        self._driver.cursor().executemany(statement.replace("?", self._placeholder), rows)

    def select(self, statement: str, values: Sequence[object] = (), check: bool = True) -> list[Any]:
        """Rows with named columns, whose values are checked unless told otherwise."""
        cursor = self._run(statement, values)
        names = tuple(column[0] for column in cursor.description)
        make = _row_type(names)
        if not check:
            return [make(*row) for row in cursor]
        checks = [CHECKS[name] for name in names]
        return [
            make(*[None if value is None else each(value) for each, value in zip(checks, row, strict=True)])
            for row in cursor
        ]

    def scalars(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        return [row[0] for row in self.select(statement, values)]

    def scalar(self, statement: str, values: Sequence[object] = ()) -> Any:
        found = self.scalars(statement, values)
        return found[0] if found else None

    def _run(self, statement: str, values: Sequence[object]) -> Any:
        written = statement.replace("?", self._placeholder)
        return self._driver.execute(written, values) if values else self._driver.execute(written)


@cache
def _row_type(names: tuple[str, ...]) -> Any:
    return namedtuple("Row", names)


class Hold:
    """The exclusive right to work on a run; it is released when the process ends at the latest."""

    def __init__(self, connection: DatabaseConnection) -> None:
        self.connection = connection  # for writing only

    def renew(self) -> None:
        """Acquire it again after the connection was lost; `UsageError` if another process has it now."""


class Database:
    """One kind of database; `location` can be shown and never contains a password.

    What a kind of database does not override has nothing to do there.
    """

    types: dict[str, str]  # of columns, by their names in the statements that create the tables
    errors: type[Exception]  # what the driver raises

    def __init__(self, location: str) -> None:
        self.location = location
        self._idle = list[DatabaseConnection]()

    def connect(self) -> DatabaseConnection:
        raise NotImplementedError

    @contextmanager
    def connection(self) -> Iterator[DatabaseConnection]:
        """A connection, which is used again if nothing goes wrong."""
        connection = self._take_idle() or self.connect()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)

    def _take_idle(self) -> DatabaseConnection | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def close(self) -> None:
        """Close all connections that are not in use."""
        while connection := Database._take_idle(self):
            connection.close()

    def prepare(self, create: bool) -> None:
        """Prepare to connect, creating the location if allowed; `StoreError` if there is none."""

    def version(self, connection: DatabaseConnection) -> int:
        """The version of the store, 0 if it is empty; `NotAStore` if it is something else."""
        raise NotImplementedError

    def secure(self, connection: DatabaseConnection) -> None:
        """Prevent others from creating or changing the tables until this transaction ends."""

    def mark(self, connection: DatabaseConnection, version: int) -> None:
        """Record the version in other places where it is looked up."""

    def settle(self) -> None:
        """Called once the store is known to be a misstep store of the newest version."""

    def check(self) -> None:
        """Raise `StoreError` if the location was removed after it was opened."""

    def hold(self, run: str) -> AbstractContextManager[Hold]:
        """Acquire the exclusive right to this run; `UsageError` if another process has it."""
        raise NotImplementedError

    def is_held(self, run: str) -> bool:
        raise NotImplementedError

    def holder(self, run: str) -> int:  # noqa: ARG002
        """The process that works on the run; 0 if unknown, as on a server: it may be on another machine."""
        return 0

    def explain(self, error: Exception) -> tuple[str, ...]:
        """The reason for a driver's error in plain words, and what to do about it."""
        raise NotImplementedError

    @contextmanager
    def reading(self, run: str = "") -> Iterator[DatabaseConnection]:
        with self.explained(run), self.connection() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[DatabaseConnection]:
        with self.explained():
            self.check()
            with self.connection() as connection, connection.begin(writing=True):
                yield connection

    def insist(
        self, hold: Hold, work: Callable[[DatabaseConnection], T], pauses: Sequence[float] = PAUSES
    ) -> T:
        """Run a repeatable write, retrying on a new connection for half a minute if one breaks."""
        with self.explained():
            self.check()
            for pause in (*pauses, None):
                try:
                    if hold.connection.is_lost:
                        hold.renew()
                    with hold.connection.begin(writing=True):
                        return work(hold.connection)
                except self.errors:
                    if pause is None or not hold.connection.is_lost:
                        raise
                    time.sleep(pause)
            raise AssertionError("the last try returns or raises")

    @contextmanager
    def explained(self, run: str = "") -> Iterator[None]:
        """Turn errors of the database or a run into errors that tell the user what to do."""
        try:
            yield
        except NotAStore as error:
            raise StoreError(
                "is not a store that this misstep can use", f"it is {error}", where=self.location
            ) from error
        except self.errors as error:
            raise StoreError("the store can't be used", *self.explain(error), where=self.location) from error
        except (msgspec.MsgspecError, OddValue, UnicodeDecodeError, RecursionError) as error:
            message = f"run {run} is damaged" if run else "the store contains unreadable data"
            raise StoreError(message, str(error), where=self.location) from error


def going_on(run: str, pid: int = 0) -> UsageError:
    process = f"process {pid}" if pid else "another process"
    return UsageError(f"run {run} is in progress in {process}", "wait for it to finish, or stop it first")


def ensure_tables(database: Database, create: bool) -> None:
    """Create the tables if there are none and `create` allows it."""
    with database.reading() as connection:
        exist = _exist(database, connection)
    if exist:
        return
    if not create:
        raise NoStoreYet(database.location)
    with database.writing() as connection:
        database.secure(connection)
        if not _exist(database, connection):  # another process may have created them
            for statement in creation(database.types):
                connection.execute(statement)
        database.mark(connection, STORE_VERSION)


def _exist(database: Database, connection: DatabaseConnection) -> bool:
    version = database.version(connection)
    if version not in (0, STORE_VERSION):
        other = "a newer misstep" if version > STORE_VERSION else "a misstep before 0.2"
        raise NotAStore(f"a version {version} store, made by {other}; this version reads {STORE_VERSION}")
    return version != 0
