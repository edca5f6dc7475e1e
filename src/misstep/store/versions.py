"""Makes the tables of a store, and refuses those of another version."""

import sqlalchemy as sa

from misstep.errors import NoStoreYet
from misstep.store import schema
from misstep.store.database import Database, NotAStore
from misstep.store.schema import STORE_VERSION
from misstep.store.transactions import Transactions


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
            schema.metadata.create_all(connection)
            connection.execute(schema.alembic_version.insert(), {"version_num": f"{STORE_VERSION:04}"})
        database.mark(connection, STORE_VERSION)


def _exist(database: Database, connection: sa.Connection) -> bool:
    version = database.version(connection)
    if version not in (0, STORE_VERSION):
        other = "a newer misstep" if version > STORE_VERSION else "a misstep before 0.2"
        raise NotAStore(f"a store of version {version}, made by {other}; this one knows {STORE_VERSION}")
    return version != 0
