"""Places for stores: every kind of database that misstep works with."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url

from tests.postgresql import GIVEN, Server, find_binaries, running_server


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Server]:
    """One server per worker, or the one that the environment names."""
    if given := os.environ.get(GIVEN):
        yield Server(make_url(given))
        return
    binaries = find_binaries()
    if binaries is None:
        pytest.skip(f"no PostgreSQL server is installed, and {GIVEN} names none")
    with running_server(binaries) as server:
        yield server


@pytest.fixture
def postgresql_location(postgresql_server: Server) -> Iterator[str]:
    """The address of an empty database, password included."""
    with postgresql_server.database() as location:
        yield location


@pytest.fixture(params=["sqlite", "postgresql"])
def store_location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a store that isn't there yet."""
    if request.param == "sqlite":
        return str(tmp_path / "a" / "store.db")
    location: str = request.getfixturevalue("postgresql_location")
    return location
