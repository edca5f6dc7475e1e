"""Transactions that end in an error people can act on."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import msgspec
import sqlalchemy as sa

from misstep.errors import StoreError
from misstep.store.checked import OddValue
from misstep.store.database import Database, Hold, NotAStore

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
