"""Stores of this version, as they were once made, are read and made alike; others are refused."""

import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest
import sqlalchemy as sa

from misstep.core.results.summary import Tally
from misstep.core.settings.reading import decode_settings
from misstep.core.spending import Spent
from misstep.errors import StoreError
from misstep.store.runs import Store, fingerprint
from misstep.store.tables import STORE_VERSION
from tests.postgresql import conninfo, engine_of
from tests.store.fixtures.make import Expectations, Expected
from tests.store.samples import new_run, outcome
from tests.store.test_tally import assert_same

ROOT = Path(__file__).parents[2]
FIXTURES = Path(__file__).parent / "fixtures"
STORED = sorted(path.name for path in FIXTURES.iterdir() if path.suffix in (".db", ".sql"))


def load(fixture: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The location of a copy of a stored fixture."""
    if fixture.endswith(".db"):
        return str(shutil.copy(FIXTURES / fixture, tmp_path / "store.db"))
    location: str = request.getfixturevalue("postgresql_location")
    with psycopg.connect(conninfo(location), autocommit=True) as connection:
        connection.execute((FIXTURES / fixture).read_bytes())
    return location


def expectations(version: int) -> list[Expected]:
    return msgspec.json.decode((FIXTURES / f"version{version}.json").read_bytes(), type=Expectations).runs


def assert_as_expected(store: Store, expected: list[Expected]) -> None:
    for run, wanted in zip(store.list_runs()[::-1], expected, strict=True):
        assert (run.started, run.total, run.done) == (wanted.started, wanted.total, wanted.done)
        assert run.purpose == wanted.purpose
        assert run.settings == decode_settings(bytes(wanted.settings))
        named = wanted.summary and msgspec.structs.replace(wanted.summary, run=run.id)
        assert run.summary == named
        assert list(store.outcomes(run.id)) == wanted.outcomes
        assert store.tool_reports(run.id) == wanted.reports
        assert store.labels(run.id) == wanted.labels
        tally = Tally()
        for each in wanted.outcomes:
            tally.add(each)
        assert_same(store.tally(run.id), tally)
        digests = {each.case.id: fingerprint(each.case) for each in wanted.outcomes}
        assert store.fingerprints(run.id, list(digests)) == digests
        assert [store.find_outcome(run.id, name).case.id for name in digests] == list(digests)
        assert store.spent(run.id) == wanted.spent
        assert not store.died(run.id)


def test_there_is_a_fixture_of_this_version_in_every_database() -> None:
    assert [f"version{STORE_VERSION}.db", f"version{STORE_VERSION}.sql"] == STORED


@pytest.mark.parametrize("fixture", STORED)
def test_a_stored_fixture_holds_what_was_put_into_it(
    fixture: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    location = load(fixture, request, tmp_path)
    expected = expectations(int(fixture[len("version")]))
    for _ in range(2):
        with Store(location) as store:
            assert_as_expected(store, expected)


@pytest.mark.parametrize("fixture", STORED)
def test_a_stored_run_can_be_gone_on_with(
    fixture: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with Store(load(fixture, request, tmp_path), create=True) as store:
        run = next(run for run in store.list_runs() if run.purpose.verb != "fuzz")
        with store.sit(run.id, 0.0) as writer:
            known = next(store.outcomes(run.id))
            assert writer.keep([outcome(50), known], Spent()) == [True, False]
        assert store.find_run(run.id).done == run.done + 1
        assert list(store.outcomes(run.id))[-1] == outcome(50)


def describe(location: str) -> dict[str, Any]:
    """All that a database says about its tables, as SQLAlchemy reads it."""
    with engine_of(location) as engine, engine.begin() as connection:
        look = sa.inspect(connection)
        return {
            table: {
                "columns": [{**column, "type": str(column["type"])} for column in look.get_columns(table)],
                "key": look.get_pk_constraint(table),
                "foreign keys": look.get_foreign_keys(table),
                "unique": look.get_unique_constraints(table),
                "indexes": sorted(look.get_indexes(table), key=lambda index: str(index["name"])),
            }
            for table in look.get_table_names()
        } | {"revision": list(connection.scalars(sa.text("SELECT version_num FROM alembic_version")))}


@pytest.mark.parametrize("fixture", STORED)
def test_a_fresh_store_is_what_the_stored_one_is(
    fixture: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    before = describe(load(fixture, request, tmp_path))
    server = None if fixture.endswith(".db") else request.getfixturevalue("postgresql_server")
    place = server.database() if server else nullcontext(str(tmp_path / "fresh.db"))
    with place as location:
        Store(location, create=True).__exit__()
        assert describe(location) == before


@pytest.mark.parametrize(("version", "maker"), [(99, "a newer misstep"), (5, "a misstep before 0.2")])
def test_a_store_of_another_version_is_refused(
    store: Store, store_location: str, version: int, maker: str
) -> None:
    with store._database.writing() as connection:
        connection.execute(f"UPDATE alembic_version SET version_num = '{version:04}'")
        if "://" not in store_location:
            connection.execute(f"PRAGMA user_version = {version}")
    complaint = f"a version {version} store, made by {maker}; this version reads {STORE_VERSION}"
    for create in (False, True):
        with pytest.raises(StoreError, match=complaint):
            Store(store_location, create=create)


@pytest.mark.full(after=1)
def test_two_processes_can_make_a_store_at_once(store_location: str) -> None:
    script = """
import sys
from misstep.store.runs import Store
sys.stdin.readline()
with Store(sys.argv[1], create=True): pass
"""
    command = [sys.executable, "-c", script, store_location]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(4)]
    for process in processes:
        process.communicate(b"\n")
    assert [process.returncode for process in processes] == [0] * 4
    with Store(store_location) as store:
        assert store.find_run(new_run(store)).done == 0
