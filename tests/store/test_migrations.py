"""Stores of every version become stores of the newest, whole or not at all."""

import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory

from misstep.core.settings import decode_settings
from misstep.core.spending import Spent
from misstep.core.summary import Tally
from misstep.errors import StoreError
from misstep.store.database import Database
from misstep.store.location import find_database
from misstep.store.migrations.upgrade import upgrade
from misstep.store.runs import Store, fingerprint
from misstep.store.schema import HEAD, STORE_VERSION
from misstep.store.transactions import Transactions
from tests.postgresql import conninfo
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
        spent = store.spent(run.id)
        assert spent == (wanted.spent or Spent({"agent": tally.usage}, tally.calls, spent.seconds))
        assert wanted.spent or spent.seconds == pytest.approx(tally.seconds / run.settings.jobs)
        assert not store.died(run.id)


def test_there_is_a_fixture_of_every_version_in_every_database() -> None:
    later = [f"version{version}.{kind}" for version in range(2, STORE_VERSION + 1) for kind in ("db", "sql")]
    assert sorted(["version1.db", *later]) == STORED


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
        with store.sit(run.id, 0.0) as seat:
            known = next(store.outcomes(run.id))
            assert seat.keep([outcome(50), known], Spent()) == [True, False]
        assert store.find_run(run.id).done == run.done + 1
        assert list(store.outcomes(run.id))[-1] == outcome(50)


def describe(database: Database) -> dict[str, Any]:
    """All that a database says about its tables."""
    with Transactions(database).reading() as connection:
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


def test_a_fresh_store_is_what_all_migrations_together_make(store_location: str) -> None:
    with Store(store_location, create=True) as store:
        fresh = describe(store._database)
    database = find_database(store_location)
    database.prepare(create=True)
    transactions = Transactions(database)
    with transactions.writing() as connection:
        for table in ("records", "outcomes", "tool_reports", "labels", "sittings", "runs", "alembic_version"):
            connection.execute(sa.text(f"DROP TABLE {table}"))
        upgrade(connection)
    assert describe(database) == fresh
    database.engine.dispose()


def test_an_old_store_becomes_what_a_fresh_one_is(tmp_path: Path) -> None:
    old, fresh = tmp_path / "old.db", tmp_path / "fresh.db"
    shutil.copy(FIXTURES / "version1.db", old)
    with Store(str(old)) as changed, Store(str(fresh), create=True) as made:
        assert describe(changed._database) == describe(made._database)
    for path in (old, fresh):
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (STORE_VERSION,)
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_the_newest_revision_is_the_one_that_is_named() -> None:
    config = Config()
    config.set_main_option("script_location", "misstep.store:migrations")
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_a_store_that_is_up_to_date_needs_no_alembic(store_location: str) -> None:
    script = """
import sys
from misstep.store.runs import Store
with Store(sys.argv[1], create=True): pass
with Store(sys.argv[1]) as store: store.list_runs()
assert "alembic" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script, store_location], check=True)


def test_a_newer_store_is_refused(store: Store, store_location: str) -> None:
    with store._transactions.writing() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0099'"))
        if connection.dialect.name == "sqlite":
            connection.execute(sa.text("PRAGMA user_version = 99"))
    for create in (False, True):
        with pytest.raises(
            StoreError,
            match=f"a store of version 99, made by a newer misstep; this one knows {STORE_VERSION}",
        ):
            Store(store_location, create=create)


def test_an_old_outcome_that_is_damaged_hinders_nobody(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    shutil.copy(FIXTURES / "version1.db", path)
    with closing(sqlite3.connect(path)) as connection:
        for place, document in ((2, "{"), (3, "[]"), (4, '{"case":7}')):
            change = "UPDATE outcomes SET outcome = ? WHERE rowid = ?"
            connection.execute(change, (document.encode(), place))
        connection.commit()
    with Store(str(path)) as store:
        oldest = store.list_runs()[-1]
        assert store.tally(oldest.id).cases == oldest.done == 8
        with pytest.raises(StoreError, match="is damaged"):
            list(store.outcomes(oldest.id))


def large_old_store(path: Path, outcomes: int) -> None:
    shutil.copy(FIXTURES / "version1.db", path)
    with closing(sqlite3.connect(path)) as connection:
        run, verdict, document = connection.execute("SELECT run, verdict, outcome FROM outcomes").fetchone()
        rows = [(run, f"more {number}", verdict, document) for number in range(outcomes)]
        statement = "INSERT INTO outcomes (run, case_id, verdict, outcome) VALUES (?, ?, ?, ?)"
        connection.executemany(statement, rows)
        connection.commit()


def opening(path: Path) -> "subprocess.Popen[str]":
    script = """
import sys
from misstep.store.runs import Store
from misstep.store.migrations import upgrade
print("here", flush=True)
with Store(sys.argv[1]) as store: print(sum(store.tally(run.id).cases for run in store.list_runs()))
"""
    command = [sys.executable, "-c", script, str(path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_processes_can_migrate_at_once(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    large_old_store(path, 2000)
    processes = [opening(path) for _ in range(3)]
    assert [process.communicate()[0] for process in processes] == ["here\n2019\n"] * 3


def test_a_migration_that_is_killed_leaves_the_old_store(tmp_path: Path) -> None:
    dice = random.Random(0)
    path = tmp_path / "store.db"
    large_old_store(path, 5000)
    versions = []
    for delay in (0, *(dice.random() * 0.3 for _ in range(5))):
        with opening(path) as process:
            while not (tmp_path / "store.db-journal").exists() and process.poll() is None:
                pass
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            assert connection.execute("SELECT count(*) FROM outcomes").fetchone() == (5019,)
        assert ("alembic_version" in tables, "old_outcomes" in tables) == (version == STORE_VERSION, False)
        versions.append(version)
    assert 1 in versions
    with opening(path) as process:
        assert process.communicate()[0] == "here\n5019\n"


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
