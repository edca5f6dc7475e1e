"""The store as tables on a PostgreSQL server."""

import hashlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from typing import Any
from weakref import WeakSet

from misstep.errors import MissingExtra
from misstep.store.database import Database, DatabaseConnection, Hold, NotAStore, going_on

SCHEMA = "misstep"  # keeps our tables apart from others in the same database

_TYPES = {
    "number": "SERIAL",
    "outcome_number": "BIGSERIAL",
    "outcome_reference": "BIGINT",
    "bytes": "BYTEA",
    "never_reused": "",
}

# A connection whose other side vanished is detected after about a minute: by us here, by the server below.
_ARGUMENTS: dict[str, Any] = {
    "application_name": "misstep",
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
_KEEPALIVE = """SELECT set_config('tcp_keepalives_idle', '30', false),
set_config('tcp_keepalives_interval', '10', false), set_config('tcp_keepalives_count', '3', false)"""

# A commit is on disk before it is acknowledged, even if the server is configured otherwise. JIT compilation
# takes longer than our small queries, and sums made by parallel workers vary from time to time.
_SESSION = f"""SELECT set_config('search_path', '{SCHEMA}', false), set_config('jit', 'off', false),
set_config('max_parallel_workers_per_gather', '0', false),
CASE current_setting('synchronous_commit')
WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END"""

_VERSION = f"""SELECT to_regclass('{SCHEMA}.runs') IS NOT NULL
AND to_regclass('{SCHEMA}.alembic_version') IS NOT NULL,
EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '{SCHEMA}')"""

_HELD = """SELECT EXISTS (SELECT FROM pg_locks
WHERE locktype = 'advisory' AND granted AND objsubid = 1
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND CAST(classid AS bigint) = ? AND CAST(objid AS bigint) = ?)"""


class PostgresqlDatabase(Database):
    """A database on a server; `location` is its address as shown to the user."""

    types = _TYPES

    def __init__(self, parameters: dict[str, str], location: str) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtra("psycopg", "postgresql") from error
        super().__init__(location)
        self.errors = psycopg.Error
        # In a function, so that nothing that shows this object shows the password.
        arguments: Any = {**_ARGUMENTS, **parameters, "autocommit": True}
        self._open: Callable[[], Any] = lambda: psycopg.connect(**arguments)

    def connect(self) -> DatabaseConnection:
        driver = self._open()
        _connections.add(driver)
        driver.execute(_SESSION)
        return DatabaseConnection(driver, placeholder="%s")

    def _take_idle(self) -> DatabaseConnection | None:
        """A connection that still works."""
        while connection := super()._take_idle():
            try:
                connection.execute("SELECT 1")
                return connection
            except self.errors:
                connection.close()
        return None

    def version(self, connection: DatabaseConnection) -> int:
        ((ours, anything),) = connection.execute(_VERSION)
        if not anything:
            return 0
        if not ours:
            raise NotAStore(f"a database in which the schema '{SCHEMA}' belongs to some other program")
        found = connection.execute("SELECT version_num FROM alembic_version")
        return int(found[0][0]) if found else 0

    def secure(self, connection: DatabaseConnection) -> None:
        connection.execute("SELECT pg_advisory_xact_lock(?)", (_key("schema"),))
        ((encoding,),) = connection.execute("SHOW server_encoding")
        if encoding != "UTF8":
            raise NotAStore(f"a database in {encoding}; expected UTF8")
        if connection.execute(f"SELECT to_regnamespace('{SCHEMA}')") == [(None,)]:
            connection.execute(f"CREATE SCHEMA {SCHEMA}")

    def hold(self, run: str) -> AbstractContextManager[Hold]:
        return closing(SessionHold(self, run))

    def is_held(self, run: str) -> bool:
        key = _key(run)
        with self.connection() as connection:
            return connection.execute(_HELD, (key >> 32 & 0xFFFFFFFF, key & 0xFFFFFFFF)) == [(True,)]

    def explain(self, error: Exception) -> tuple[str, ...]:
        lines = [line.strip() for line in str(error).splitlines()]
        return tuple(line for line in lines if line)[:3]


class SessionHold(Hold):
    """The right to a run, tied to the connection that writes: if the connection is lost, so is the right."""

    def __init__(self, database: PostgresqlDatabase, run: str) -> None:
        self._database, self._run = database, run
        super().__init__(self._take())

    def renew(self) -> None:
        self.close()
        self.connection = self._take()

    def close(self) -> None:
        with suppress(self._database.errors):
            self.connection.execute("SELECT pg_advisory_unlock(?)", (_key(self._run),))
        self.connection.close()

    def _take(self) -> DatabaseConnection:
        connection = self._database.connect()  # closed at the end, which releases its lock
        connection.execute(_KEEPALIVE)
        if connection.execute("SELECT pg_try_advisory_lock(?)", (_key(self._run),)) == [(True,)]:
            return connection
        connection.close()
        raise going_on(self._run)


_connections: WeakSet[Any] = WeakSet()  # of this process


def _let_go() -> None:
    """Detach a forked child from the connections of its parent.

    The child shares them, with their locks, until it gives up its copies of the sockets. It must not close a
    connection, which would tell the server to end the parent's session, so each socket is replaced with the
    null device.
    """
    for connection in list(_connections):
        with suppress(Exception):  # it is closed already
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, connection.fileno(), inheritable=False)
            os.close(nowhere)
    _connections.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def _key(name: str) -> int:
    """A number for an advisory lock; these are looked up in one database only."""
    digest = hashlib.blake2b(f"misstep {name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)
