"""A new kind of run takes a package of its own and one line of a table; every command then knows it."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from misstep.core.run import KINDS, RunKind
from misstep.core.settings import Settings
from tests.architecture.echo.command import echo
from tests.conftest import Command, misstep

__all__ = ["misstep"]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], str]:
    monkeypatch.setitem(KINDS, "echo", RunKind("echo", "tests.architecture.echo"))
    settings = Settings(agent="sim:greedy", count=8, store=str(tmp_path / "s.db"))
    return lambda: echo(settings).run


def test_every_command_knows_a_new_kind_of_run(
    runs: Callable[[], str], misstep: Command, tmp_path: Path
) -> None:
    first, second = runs(), runs()
    store = ("--store", "s.db")
    assert "echo" in misstep("runs", *store).out
    listed = json.loads(misstep("runs", "--json", *store).out)["runs"]
    assert [each["verb"] for each in listed] == ["echo", "echo"]
    shown = misstep("show", first, *store)
    assert f"the echo of {first}" in shown.out
    assert misstep("compare", first, second, "--json", *store).code == 0
    made = misstep(
        "report", first, "--report", "html,junit,sarif,json,md,ndjson", "--report-dir", "out", *store
    )
    assert made.code == 0
    page = (tmp_path / "out" / f"{first}.html").read_text()
    assert "heard 8 times" in page
    assert "misstep plan echo" in page
    events = [json.loads(line) for line in (tmp_path / "out" / f"{first}.ndjson").read_text().splitlines()]
    assert [event["type"] for event in events].count("case_finished") == 8
    assert misstep("export", first, "--format", "csv", "--out", "rows.csv", *store).code == 0
    with open(tmp_path / "rows.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == 8


def test_a_store_with_a_kind_of_run_that_is_not_known_says_so(
    runs: Callable[[], str], misstep: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs()
    monkeypatch.delitem(KINDS, "echo")
    result = misstep("runs", "--store", "s.db")
    assert f"run {run} is damaged" in result.out
    assert "echo" in result.out
