"""The store as tables on a PostgreSQL server."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any
from weakref import WeakSet

import sqlalchemy as sa

from misstep.errors import MissingExtra
from misstep.store.database import Database, Hold, NotAStore, going_on

SCHEMA = "misstep"  # keeps our tables apart from others in the same database

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
AND CAST(classid AS bigint) = :high AND CAST(objid AS bigint) = :low)"""


class PostgresqlDatabase(Database):
    """A database on a server; `location` is its address as shown to the user."""

    def __init__(self, url: sa.URL, location: str) -> None:
        if find_spec("psycopg") is None:
            raise MissingExtra("psycopg", "postgresql")
        self.location = location
        self.engine = sa.create_engine(
            url.set(drivername="postgresql+psycopg"),
            connect_args={name: value for name, value in _ARGUMENTS.items() if name not in url.query},
            pool_pre_ping=True,
            pool_reset_on_return=None,  # every transaction is ended explicitly
        )
        sa.event.listen(self.engine, "connect", _configure)

    def version(self, connection: sa.Connection) -> int:
        ours, anything = connection.execute(sa.text(_VERSION)).one()
        if not anything:
            return 0
        if not ours:
            raise NotAStore(f"a database in which the schema '{SCHEMA}' belongs to some other program")
        return int(connection.scalar(sa.text("SELECT version_num FROM alembic_version")) or 0)

    def secure(self, connection: sa.Connection) -> None:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_key("schema"))))
        encoding = connection.scalar(sa.text("SHOW server_encoding"))
        if encoding != "UTF8":
            raise NotAStore(f"a database in {encoding}; expected UTF8")
        if not sa.inspect(connection).has_schema(SCHEMA):
            connection.execute(sa.schema.CreateSchema(SCHEMA))

    @contextmanager
    def hold(self, run: str) -> Iterator["SessionHold"]:
        hold = SessionHold(self.engine, run)
        try:
            yield hold
        finally:
            hold.release()

    def is_held(self, run: str) -> bool:
        key = _key(run)
        halves = {"high": key >> 32 & 0xFFFFFFFF, "low": key & 0xFFFFFFFF}
        with self.engine.begin() as connection:
            return bool(connection.scalar(sa.text(_HELD), halves))

    def explain(self, error: Exception) -> tuple[str, ...]:
        lines = [line.strip() for line in str(getattr(error, "orig", error)).splitlines()]
        return tuple(line for line in lines if line)[:3]


class SessionHold(Hold):
    """The right to a run, tied to the connection that writes: if the connection is lost, so is the right."""

    def __init__(self, engine: sa.Engine, run: str) -> None:
        self._engine, self._run = engine, run
        super().__init__(self._take())

    def renew(self) -> None:
        self.release()
        self.connection = self._take()

    def release(self) -> None:
        connection = self.connection
        if not (connection.closed or connection.invalidated):
            with suppress(sa.exc.DBAPIError), connection.begin():
                connection.execute(sa.select(sa.func.pg_advisory_unlock(_key(self._run))))
        with suppress(sa.exc.DBAPIError):
            connection.close()

    def _take(self) -> sa.Connection:
        connection = self._engine.connect()
        connection.detach()  # closed at the end, which releases its lock
        with connection.begin():
            connection.execute(sa.text(_KEEPALIVE))
            if connection.scalar(sa.select(sa.func.pg_try_advisory_lock(_key(self._run)))):
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


def _configure(connection: Any, _: object) -> None:
    _connections.add(connection)
    connection.autocommit = True
    connection.execute(_SESSION)
    connection.autocommit = False


def _key(name: str) -> int:
    """A number for an advisory lock; these are looked up in one database only."""
    digest = hashlib.blake2b(f"misstep {name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)
