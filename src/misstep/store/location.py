"""Finds the database for a location given by the user."""

import re
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlencode

from misstep.core.settings import store_flag
from misstep.errors import UsageError
from misstep.store.database import Database
from misstep.store.sqlite import SqliteDatabase

_POSTGRESQL = ("postgresql", "postgres", "postgresql+psycopg")
_ADDRESS = re.compile(
    r"[a-z+]+://(?:(?P<user>[^:/@]*)(?::(?P<password>[^@]*))?@)?"
    r"(?P<place>(?P<host>\[[^]/?@]+]|[^:/?@]*)(?::(?P<port>[0-9]*))?(?:/(?P<dbname>[^?]*))?)"
    r"(?:\?(?P<options>.*))?"
)


def find_database(location: str) -> Database:
    """The database at a path, `sqlite:///PATH` or `postgresql://…`."""
    scheme, separator, rest = location.partition("://")
    if not separator:
        return SqliteDatabase(Path(location), location)
    if scheme == "sqlite":
        return SqliteDatabase(Path(rest.removeprefix("/")), location)
    if scheme in _POSTGRESQL:
        from misstep.store.postgresql import PostgresqlDatabase

        return PostgresqlDatabase(_connection_parameters(location), shown(location))
    hint = "expected a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE"
    raise UsageError(f"stores of the kind '{scheme}' are not supported", hint, where=shown(location))


def shown(location: str) -> str:
    """A location without its password; if it can't be parsed, only its kind is shown."""
    scheme, separator, _ = location.partition("://")
    if not separator or scheme == "sqlite":
        return location
    try:
        address = _parse(location)
    except UsageError as error:
        return error.where
    user = f"{address['user']}@" if address["user"] else ""
    options = urlencode({name: value for name, value in _options(address).items() if "password" not in name})
    return f"{scheme}://{user}{address['place']}{'?' if options else ''}{options}"


def way_to(location: str) -> str:
    """The option that a command needs to find the store at a location, without its password."""
    return store_flag(shown(location))


def _connection_parameters(location: str) -> dict[str, str]:
    address = _parse(location)
    parts = {name: unquote(address[name] or "") for name in ("user", "password", "host", "port", "dbname")}
    parts["host"] = parts["host"].strip("[]")  # around an IPv6 address
    return {name: value for name, value in parts.items() if value} | _options(address)


def _options(address: re.Match[str]) -> dict[str, str]:
    return dict(parse_qsl(address["options"] or ""))


def _parse(location: str) -> re.Match[str]:
    """Parse an address; error messages don't repeat any of it, since it may contain a password."""
    if address := _ADDRESS.fullmatch(location):
        return address
    raise UsageError(
        "the address of the store can't be read",
        "expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE",
        "write @ as %40, : as %3A and / as %2F in names and passwords",
        where=location.partition("://")[0] + "://…",
    )
