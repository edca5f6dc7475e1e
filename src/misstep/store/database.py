"""What a database has to offer to be a store.

Transactions that end in an error people can act on.

Makes the tables of a store, and refuses those of another version.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TypeVar

import msgspec
import sqlalchemy as sa

from misstep.errors import NoStoreYet, StoreError, UsageError
from misstep.store import tables
from misstep.store.tables import STORE_VERSION, OddValue


class NotAStore(Exception):
    """The place holds something else; the message says what."""


class Hold(Protocol):
    """The exclusive right to work on a run; it ends with the process at the latest."""

    connection: sa.Connection  # to write with, and for nothing else

    def renew(self) -> None:
        """Take it anew after the connection was lost; a `UsageError` if somebody else has it now."""
        ...


class Database(Protocol):
    """One kind of database; `location` is fit to be shown and never holds a password."""

    location: str
    engine: sa.Engine

    def prepare(self, create: bool) -> None:
        """Get ready to connect, and make the place if it may be made; a `StoreError` if there is none."""
        ...

    def version(self, connection: sa.Connection) -> int:
        """The version of the store in it, 0 if there is nothing yet; `NotAStore` if it is something else."""
        ...

    def secure(self, connection: sa.Connection) -> None:
        """Let nobody else make or change the tables until this transaction ends."""
        ...

    def mark(self, connection: sa.Connection, version: int) -> None:
        """Write down the version wherever else it is looked for."""
        ...

    def settle(self) -> None:
        """Called once the store is known to be one of ours, at its newest version."""
        ...

    def check(self) -> None:
        """A `StoreError` if the place was taken away since it was opened."""
        ...

    def hold(self, run: str) -> AbstractContextManager[Hold]:
        """The exclusive right to this run; a `UsageError` if somebody has it already."""
        ...

    def is_held(self, run: str) -> bool: ...

    def holder(self, run: str) -> int:
        """The process that works on the run; 0 where that is not known."""
        ...

    def explain(self, error: Exception) -> tuple[str, ...]:
        """The reason for a driver's error in people's words, with what to do about it."""
        ...


def going_on(run: str, pid: int = 0) -> UsageError:
    process = f"process {pid}" if pid else "another process"
    return UsageError(f"run {run} is going on in {process}", "wait for it, or stop it first")


T = TypeVar("T")

PAUSES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0)  # seconds between tries while a server restarts


class Transactions:
    """Reads and writes on one database, each whole or not at all."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._readers = database.engine
        self._writers = self._readers.execution_options(writing=True)

    @contextmanager
    def reading(self, run: str = "") -> Iterator[sa.Connection]:
        """A transaction that only reads, perhaps about one run."""
        with self.explained(run), self._readers.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        with self.explained():
            self.database.check()
            with self._writers.begin() as connection:
                yield connection

    def insist(self, hold: Hold, work: Callable[[sa.Connection], T], pauses: Sequence[float] = PAUSES) -> T:
        """Do some writing that may be repeated, on a fresh connection if one breaks, for half a minute."""
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
        """Turn what goes wrong with the database or a run into an error that people can act on."""
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
            message = f"run {run} is damaged" if run else "the store holds something unreadable"
            raise StoreError(message, str(error), where=where) from error


def ensure_tables(transactions: Transactions, create: bool) -> None:
    """Make the tables where there are none and `create` allows it."""
    database = transactions.database
    with transactions.reading() as connection:
        exist = _exist(database, connection)
    if exist:
        return
    if not create:
        raise NoStoreYet(database.location)
    with transactions.writing() as connection:
        database.secure(connection)
        if not _exist(database, connection):  # another process may have made them
            tables.metadata.create_all(connection)
            connection.execute(tables.alembic_version.insert(), {"version_num": f"{STORE_VERSION:04}"})
        database.mark(connection, STORE_VERSION)


def _exist(database: Database, connection: sa.Connection) -> bool:
    version = database.version(connection)
    if version not in (0, STORE_VERSION):
        other = "a newer misstep" if version > STORE_VERSION else "a misstep before 0.2"
        raise NotAStore(f"a store of version {version}, made by {other}; this one knows {STORE_VERSION}")
    return version != 0
