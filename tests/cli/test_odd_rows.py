"""Odd values anywhere in a store: no command breaks, and all other runs are listed.

A store holds a run for every odd value in every column, and healthy ones between them.
"""

import json
import math
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import msgspec
import psycopg
import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from misstep.core.results.label import Label
from misstep.core.settings import Settings
from misstep.features.serve.server import site
from misstep.store.runs import Store
from tests.conftest import Command
from tests.features.serve.stored import keep_outcomes, keep_reports
from tests.features.tool_fuzz.test_view import REPORT
from tests.postgresql import conninfo, engine_of
from tests.store.samples import outcome

ODD: tuple[Any, ...] = (
    *(None, -1, 0, 10**12, 2**63 - 1, 1e300, math.inf, -math.inf, math.nan),
    *("", "../odd", "passed", "unknown", "\x1b[31m"),
    *(b"", b"\xff\xfe", b"{", b"[]", b'{"run":7,"verb":"odd","agent":[]}'),
)
AT_ONCE = 50  # runs on a page


class Made(msgspec.Struct):
    """A store: the ids of its healthy runs, and of the odd ones with what is odd about them."""

    location: str
    healthy: list[str]
    odd: dict[str, tuple[str, str, Any]]


def templates(location: str) -> dict[str, int]:
    """The numbers of an unfinished run on plans and one on tools, from which others are copied."""
    settings = Settings(store=location, agent="sim:greedy")
    planned = keep_outcomes(settings, [outcome(1), outcome(2, "failed", "order")], 5)
    fuzzed = keep_reports(settings, "fuzz", REPORT.tools[:1])
    with Store(location) as store:
        for run in (planned, fuzzed):
            store.keep_label(run, Label("item", "labeller", True, 1.0))
    with engine_of(location) as engine, engine.begin() as connection:
        found = dict(tuple(row) for row in connection.execute(sa.text("SELECT id, number FROM runs")))
    return {"plans": found[planned], "tools": found[fuzzed]}


def copy_run(
    connection: sa.Connection, tables: dict[str, sa.Table], template: int, name: str
) -> dict[str, int]:
    """Another run like the template; of each table, the number of a row of it."""
    runs, outcomes, records = (tables[each] for each in ("runs", "outcomes", "records"))
    (row,) = connection.execute(sa.select(runs).where(runs.c.number == template)).mappings()
    fresh = {key: value for key, value in row.items() if key != "number"} | {"id": name}
    number = connection.scalar(runs.insert().returning(runs.c.number), fresh)
    made = {"runs": int(number or 0)}
    for table in (tables[each] for each in ("outcomes", "tool_reports", "labels", "sittings")):
        for each in list(
            connection.execute(
                sa.select(table).where(table.c.run == template).order_by(table.c.number)
            ).mappings()
        ):
            fresh = {key: value for key, value in each.items() if key != "number"} | {"run": number}
            made[table.name] = connection.scalar(table.insert().returning(table.c.number), fresh) or 0
            if table is outcomes:
                kept = sa.select(records.c.document).where(records.c.outcome == each["number"])
                document = connection.scalar(kept)
                connection.execute(records.insert(), {"outcome": made["outcomes"], "document": document})
                made["records"] = made["outcomes"]
    return made


@contextmanager
def careless(location: str) -> Iterator[Any]:
    """A connection that checks no references, with which rows are spoilt one by one."""
    if location.startswith("postgresql"):
        with psycopg.connect(conninfo(location), autocommit=True) as connection:
            connection.execute("SET search_path = misstep")
            connection.execute("SET session_replication_role = replica")
            yield lambda query, value, at: connection.execute(query.replace("?", "%s"), (value, at))
    else:
        with closing(sqlite3.connect(location, isolation_level=None)) as file:
            file.execute("PRAGMA synchronous = OFF")
            yield lambda query, value, at: file.execute(query, (value, at))


def make(location: str, values_of: Callable[[Any], Sequence[Any]]) -> Made:
    known, found = templates(location), Made(location, [], {})
    rows = list[tuple[str, str, str, Any, dict[str, int]]]()
    with engine_of(location) as engine, engine.begin() as connection:
        metadata = sa.MetaData()
        metadata.reflect(connection)
        tables = {table.name: table for table in metadata.sorted_tables if table.name != "alembic_version"}
        assert len(tables) == 6
        for column in [column for table in tables.values() for column in table.columns]:
            table = column.table.name
            for value in values_of(column.type):
                name = f"odd{len(rows):04}"
                kind = "tools" if table in ("tool_reports", "labels") else "plans"
                rows.append(
                    (name, table, column.name, value, copy_run(connection, tables, known[kind], name))
                )
            found.healthy.append(f"fine{len(found.healthy):04}")
            copy_run(connection, tables, known["plans"], found.healthy[-1])
    with careless(location) as execute:
        for name, table, column, value, numbers in rows:
            key = "outcome" if table == "records" else "number"
            try:
                execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", value, numbers[table])
                found.odd[name] = (table, column, value)
            except (sqlite3.Error, OverflowError, psycopg.Error):
                found.healthy.append(name)  # the database takes no such value
    return found


def fitting(kind: Any) -> Sequence[Any]:
    """A value that is of the column's type, and is none that misstep writes."""
    found = {sa.LargeBinary: b"{", sa.Float: math.inf, sa.String: "odd"}
    return [value for type_, value in found.items() if isinstance(kind, type_)][:1]


def unfit(kind: Any) -> Sequence[Any]:
    """A value of another type, which SQLite takes all the same."""
    if isinstance(kind, sa.Float):
        return [b"{"]
    return [math.inf if isinstance(kind, sa.String) else "odd"]


@pytest.mark.full
def test_no_odd_value_takes_a_list_down(store_location: str, misstep: Command) -> None:
    made = make(store_location, lambda _: ODD)
    assert len(made.odd) > (250 if store_location.startswith("postgresql") else 500)
    result = misstep("runs", "--json", "--store", store_location)
    assert result.code == 0, result
    told = json.loads(result.out)
    listed, damaged = [line["run"] for line in told["runs"]], [line["id"] for line in told["damaged"]]
    assert not {*made.healthy} - {*listed}
    assert len(listed) + len(damaged) == len(made.healthy) + len(made.odd) + 2
    assert all(line["why"] for line in told["damaged"])
    assert len(damaged) > 30
    assert misstep("runs", "--most", "2000", "--store", store_location).code == 0
    pages = TestClient(site(Settings(store=store_location), lambda: False))
    shown = ""
    for number in range(1, 2 + (len(listed) + len(damaged)) // AT_ONCE):
        page = pages.get(f"/?page={number}")
        assert page.status_code == 200, number
        shown += page.text
    assert not [run for run in made.healthy if f"/runs/{run}" not in shown]
    assert shown.count("is damaged") >= len(damaged)


@pytest.mark.full
def test_no_odd_value_ends_a_command_in_a_traceback(store_location: str, misstep: Command) -> None:
    made = make(store_location, fitting if store_location.startswith("postgresql") else unfit)
    pages = TestClient(site(Settings(store=store_location), lambda: False), raise_server_exceptions=True)
    first = made.healthy[0]
    for run, about in made.odd.items():
        more = (
            ("report", run, "--report", "html,json,md"),
            ("compare", run, first),
            ("export", run, "--format", "csv", "--out", "out.csv"),
        )
        # What is done with the values is the same for both databases.
        for command in (("show", run), *(() if store_location.startswith("postgresql") else more)):
            result = misstep(*command, "--store", store_location)
            assert result.code in (0, 1, 2), (about, command, result)
            assert "Traceback" not in result.err, (about, command, result)
        for address in (
            f"/runs/{run}",
            f"/runs/{run}/data/cases.json",
            f"/compare?first={run}&second={first}",
        ):
            assert pages.get(address).status_code in (200, 400, 404, 503), (about, address)
