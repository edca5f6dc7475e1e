"""The interface of a database, transactions with user-facing errors, and creation of the tables."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

import msgspec
import sqlalchemy as sa

from misstep.errors import NoStoreYet, StoreError, UsageError
from misstep.store import tables
from misstep.store.tables import STORE_VERSION, OddValue


class NotAStore(Exception):
    """The location holds something else; the message says what."""


class Hold:
    """The exclusive right to work on a run; it is released when the process ends at the latest."""

    def __init__(self, connection: sa.Connection) -> None:
        self.connection = connection  # for writing only

    def renew(self) -> None:
        """Acquire it again after the connection was lost; `UsageError` if another process has it now."""


class Database:
    """One kind of database; `location` can be shown and never contains a password.

    What a kind of database does not override has nothing to do there.
    """

    location: str
    engine: sa.Engine

    def prepare(self, create: bool) -> None:
        """Prepare to connect, creating the location if allowed; `StoreError` if there is none."""

    def version(self, connection: sa.Connection) -> int:
        """The version of the store, 0 if it is empty; `NotAStore` if it is something else."""
        raise NotImplementedError

    def secure(self, connection: sa.Connection) -> None:
        """Prevent others from creating or changing the tables until this transaction ends."""

    def mark(self, connection: sa.Connection, version: int) -> None:
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


def going_on(run: str, pid: int = 0) -> UsageError:
    process = f"process {pid}" if pid else "another process"
    return UsageError(f"run {run} is in progress in {process}", "wait for it to finish, or stop it first")


T = TypeVar("T")

PAUSES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0)  # seconds between retries while a server restarts


class Transactions:
    """Reads and writes on one database, each atomic."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._readers = database.engine
        self._writers = self._readers.execution_options(writing=True)

    @contextmanager
    def reading(self, run: str = "") -> Iterator[sa.Connection]:
        """A read-only transaction, optionally about one run."""
        with self.explained(run), self._readers.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        with self.explained():
            self.database.check()
            with self._writers.begin() as connection:
                yield connection

    def insist(self, hold: Hold, work: Callable[[sa.Connection], T], pauses: Sequence[float] = PAUSES) -> T:
        """Run a repeatable write, retrying on a new connection for half a minute if one breaks."""
        with self.explained():
            self.database.check()
            for pause in pauses:
                try:
                    if hold.connection.closed:
                        hold.renew()
                    with hold.connection.begin():
                        return work(hold.connection)
                except sa.exc.DBAPIError as error:
                    if not error.connection_invalidated and not hold.connection.closed:
                        raise
                    hold.connection.close()
                    time.sleep(pause)
            hold.renew()
            with hold.connection.begin():
                return work(hold.connection)

    @contextmanager
    def explained(self, run: str = "") -> Iterator[None]:
        """Turn errors of the database or a run into errors that tell the user what to do."""
        where = self.database.location
        try:
            yield
        except NotAStore as error:
            raise StoreError(
                "is not a store that this misstep can use", f"it is {error}", where=where
            ) from error
        except sa.exc.DBAPIError as error:
            raise StoreError("the store can't be used", *self.database.explain(error), where=where) from error
        except (msgspec.MsgspecError, OddValue, UnicodeDecodeError, RecursionError) as error:
            message = f"run {run} is damaged" if run else "the store contains unreadable data"
            raise StoreError(message, str(error), where=where) from error


def ensure_tables(transactions: Transactions, create: bool) -> None:
    """Create the tables if there are none and `create` allows it."""
    database = transactions.database
    with transactions.reading() as connection:
        exist = _exist(database, connection)
    if exist:
        return
    if not create:
        raise NoStoreYet(database.location)
    with transactions.writing() as connection:
        database.secure(connection)
        if not _exist(database, connection):  # another process may have created them
            tables.metadata.create_all(connection)
            connection.execute(tables.alembic_version.insert(), {"version_num": f"{STORE_VERSION:04}"})
        database.mark(connection, STORE_VERSION)


def _exist(database: Database, connection: sa.Connection) -> bool:
    version = database.version(connection)
    if version not in (0, STORE_VERSION):
        other = "a newer misstep" if version > STORE_VERSION else "a misstep before 0.2"
        raise NotAStore(f"a version {version} store, made by {other}; this version reads {STORE_VERSION}")
    return version != 0
