"""Stores of every age are brought to the newest version."""

import threading

import sqlalchemy as sa

from misstep.errors import NoStoreYet, StoreError
from misstep.store import schema
from misstep.store.database import Database, NotAStore
from misstep.store.schema import HEAD, STORE_VERSION
from misstep.store.transactions import Transactions

_alone = threading.Lock()  # Alembic keeps what it is doing in global variables


def bring_up_to_date(transactions: Transactions, create: bool) -> None:
    """Make the tables where there are none and `create` allows it; change those of an older version."""
    database = transactions.database
    with transactions.reading() as connection:
        version = _known_version(database, connection)
    if version == 0 and not create:
        raise NoStoreYet(database.location)
    if version < STORE_VERSION:
        _update(transactions, version)


def _update(transactions: Transactions, version: int) -> None:
    """Everything or nothing, by one process at a time."""
    database = transactions.database
    try:
        with transactions.writing() as connection:
            database.secure(connection)
            _change(connection, _known_version(database, connection))  # another process may have done it
            database.mark(connection, STORE_VERSION)
    except StoreError as error:
        if version == 0:
            raise
        raise StoreError(
            f"a store of version {version}, which has to be brought to version {STORE_VERSION} and can't be",
            *error.hints,
            "open it once where it may be changed, or open a copy of it",
            where=error.where,
        ) from error


def _known_version(database: Database, connection: sa.Connection) -> int:
    version = database.version(connection)
    if version > STORE_VERSION:
        raise NotAStore(
            f"a store of version {version}, made by a newer misstep; this one knows {STORE_VERSION}"
        )
    return version


def _change(connection: sa.Connection, version: int) -> None:
    if version == 0:
        schema.metadata.create_all(connection)
        connection.execute(schema.alembic_version.insert(), {"version_num": HEAD})
    elif version < STORE_VERSION:
        migrate(connection, f"{version:04}")


def migrate(connection: sa.Connection, revision: str) -> None:
    """Bring the tables from a revision to the newest, within the transaction that is under way."""
    from misstep.store.migrations.upgrade import upgrade

    with _alone:
        upgrade(connection, revision)
