"""One odd value anywhere in a store: no command breaks, and all other runs are listed."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from misstep.core.settings import Settings
from misstep.store.schema import metadata
from misstep.web.site import site
from tests.cli.conftest import Command
from tests.store.samples import outcome
from tests.web.stored import keep_every_kind, keep_outcomes

ODD = (None, -1, 10**12, float("inf"), "../odd", b"\xff\xfe", b"[]", b'{"run":7,"verb":"odd","agent":[]}')
COLUMNS = [
    f"{table.name}.{column.name}"
    for table in metadata.sorted_tables
    if table.name != "alembic_version"
    for column in table.columns
]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("original") / "store.db"
    settings = Settings(store=str(path))
    keep_every_kind(settings)
    keep_outcomes(settings.overlay({"agent": "sim:greedy"}), [outcome(1), outcome(2, "failed", "order")], 5)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return path


def spoil(path: Path, table: str, column: str, row: int, value: object) -> bool:
    """Whether the database takes the value."""
    with closing(sqlite3.connect(path)) as connection:
        try:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
            connection.commit()
        except (sqlite3.IntegrityError, OverflowError):
            return False
    return True


def rows_of(path: Path, table: str) -> list[int]:
    """The first row and the last."""
    with closing(sqlite3.connect(path)) as connection:
        found = [row for (row,) in connection.execute(f"SELECT rowid FROM {table} ORDER BY rowid")]
    return list(dict.fromkeys([found[0], found[-1]])) if found else []


@pytest.mark.parametrize("place", COLUMNS)
def test_no_odd_value_takes_a_list_down(place: str, original: Path, misstep: Command, tmp_path: Path) -> None:
    table, column = place.split(".")
    path = tmp_path / "store.db"
    runs = [line["run"] for line in _listed(misstep, original)["runs"]]
    for row in rows_of(original, table):
        for value in ODD:
            shutil.copy(original, path)
            if not spoil(path, table, column, row, value):
                continue
            told = (place, row, value if not isinstance(value, bytes) else value[:20])
            listed = _listed(misstep, path)
            readable = [line["run"] for line in listed["runs"]]
            assert len(readable) + len(listed["damaged"]) == len(runs), told
            assert len(set(runs) - set(readable)) <= 1, told
            pages = TestClient(site(Settings(store=str(path)), lambda: False))
            page = pages.get("/")
            assert page.status_code == 200, told
            assert all(run in page.text for run in readable), told
            for each in listed["damaged"]:
                assert "is damaged" in page.text, told
                assert each["why"], told


def _listed(misstep: Command, path: Path) -> dict[str, list[dict[str, str]]]:
    result = misstep("runs", "--json", "--store", str(path))
    assert result.code == 0, result
    parsed: dict[str, list[dict[str, str]]] = json.loads(result.out)
    return parsed


@pytest.mark.parametrize("place", COLUMNS)
def test_no_odd_value_ends_a_command_in_a_traceback(
    place: str, original: Path, misstep: Command, tmp_path: Path
) -> None:
    """Each command on the run that the row belongs to, or on all of them."""
    table, column = place.split(".")
    path = tmp_path / "store.db"
    odd = (b"{", "odd", float("inf"))
    first, second = [line["run"] for line in _listed(misstep, original)["runs"]][-2:]
    tested = second
    for value in odd:
        shutil.copy(original, path)
        if not spoil(
            path, table, column, rows_of(original, table)[0] if rows_of(original, table) else 1, value
        ):
            continue
        pages = TestClient(site(Settings(store=str(path)), lambda: False), raise_server_exceptions=True)
        for command in (
            ("runs",),
            ("show", tested),
            ("report", tested, "--report", "html,json,md"),
            ("compare", tested, first),
            ("export", tested, "--format", "csv", "--out", "out.csv"),
        ):
            result = misstep(*command, "--store", str(path))
            assert result.code in (0, 1, 2), (place, value, command, result)
            assert "Traceback" not in result.err
        for address in (
            f"/runs/{tested}",
            f"/runs/{tested}/data/cases.json",
            f"/compare?first={tested}&second={first}",
        ):
            assert pages.get(address).status_code in (200, 400, 404, 503), (place, value, address)
