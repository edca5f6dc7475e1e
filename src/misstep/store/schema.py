"""The tables of the store, and the proof that a file is one."""

import sqlite3
from typing import Any

import sqlalchemy as sa

STORE_VERSION = 1
APPLICATION_ID = 0x6D737470  # "mstp", in the header of every SQLite file of ours

metadata = sa.MetaData()

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("id", sa.String, nullable=False, unique=True),
    sa.Column("started", sa.Float, nullable=False),
    sa.Column("total", sa.Integer, nullable=False),
    sa.Column("settings", sa.LargeBinary, nullable=False),
    sa.Column("summary", sa.LargeBinary),
    sqlite_autoincrement=True,
)

outcomes = sa.Table(
    "outcomes",
    metadata,
    sa.Column("run", sa.String, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("case_id", sa.String, primary_key=True),
    sa.Column("verdict", sa.String, nullable=False),
    sa.Column("error", sa.String),
    sa.Column("outcome", sa.LargeBinary, nullable=False),
)


class NotAStore(Exception):
    """The file holds something else; the message says what."""


def connect(location: str) -> sa.Engine:
    """An engine whose transactions begin when we say so: writers queue, readers never wait for them."""
    engine = sa.create_engine(sa.URL.create("sqlite", database=location))
    sa.event.listen(engine, "connect", _configure)
    sa.event.listen(engine, "begin", _begin)
    return engine


def create(connection: sa.Connection) -> None:
    """Make the tables in an empty file; the caller holds the write lock, so that only one of us does."""
    if _pragma(connection, "application_id") == 0 and not sa.inspect(connection).get_table_names():
        metadata.create_all(connection)
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.exec_driver_sql(f"PRAGMA user_version = {STORE_VERSION}")


def recognise(connection: sa.Connection) -> None:
    """Raise `NotAStore` unless the tables are ours and of a version we know."""
    version = _pragma(connection, "user_version")
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise NotAStore("a database of some other program")
    if version > STORE_VERSION:
        raise NotAStore(
            f"a store of version {version}, made by a newer misstep; this one knows {STORE_VERSION}"
        )


def _configure(connection: sqlite3.Connection, _: Any) -> None:
    connection.isolation_level = None  # the driver must not begin transactions of its own
    connection.execute("PRAGMA busy_timeout = 30000")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin(connection: sa.Connection) -> None:
    connection.exec_driver_sql(
        "BEGIN IMMEDIATE" if connection.get_execution_options().get("writing") else "BEGIN"
    )


def _pragma(connection: sa.Connection, name: str) -> int:
    return int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())
