"""Finds the database for a location given by the user."""

from pathlib import Path

import sqlalchemy as sa

from misstep.core.settings import store_flag
from misstep.errors import UsageError
from misstep.store.database import Database
from misstep.store.sqlite import SqliteDatabase

_POSTGRESQL = ("postgresql", "postgres", "postgresql+psycopg")


def find_database(location: str) -> Database:
    """The database at a path, `sqlite:///PATH` or `postgresql://…`."""
    scheme, separator, rest = location.partition("://")
    if not separator:
        return SqliteDatabase(Path(location), location)
    if scheme == "sqlite":
        return SqliteDatabase(Path(rest.removeprefix("/")), location)
    if scheme in _POSTGRESQL:
        from misstep.store.postgresql import PostgresqlDatabase

        return PostgresqlDatabase(_parse(location), shown(location))
    hint = "expected a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE"
    raise UsageError(f"stores of the kind '{scheme}' are not supported", hint, where=shown(location))


def shown(location: str) -> str:
    """A location without its password; if it can't be parsed, only its kind is shown."""
    scheme, separator, _ = location.partition("://")
    if not separator or scheme == "sqlite":
        return location
    try:
        url = _parse(location)
    except UsageError as error:
        return error.where
    query = {name: value for name, value in url.query.items() if "password" not in name}
    parts = sa.URL.create(scheme, url.username, None, url.host, url.port, url.database, query)
    return parts.render_as_string(hide_password=False)


def way_to(location: str) -> str:
    """The option that a command needs to find the store at a location, without its password."""
    return store_flag(shown(location))


def _parse(location: str) -> sa.URL:
    """Parse an address; error messages don't repeat any of it, since it may contain a password."""
    try:
        url = sa.make_url(location)
        if "@" not in (url.host or ""):
            return url
    except (sa.exc.ArgumentError, ValueError):
        pass
    raise UsageError(
        "the address of the store can't be read",
        "expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE",
        "write @ as %40, : as %3A and / as %2F in names and passwords",
        where=location.partition("://")[0] + "://…",
    ) from None
