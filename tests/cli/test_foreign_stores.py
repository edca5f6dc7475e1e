"""Stores from elsewhere: nothing that only they name is executed, and no id of theirs becomes a path."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
import sqlalchemy as sa

from misstep.core.settings import Settings
from misstep.core.spending import Spent
from misstep.features.plan_test.run import run_agent
from misstep.store.runs import Store
from misstep.store.trust import is_ours, key_path
from tests.conftest import Command
from tests.features.serve.stored import keep_reports
from tests.features.tool_fuzz.test_view import REPORT
from tests.postgresql import engine_of

AGENT = """
import pathlib

async def agent(task, tools):
    pathlib.Path("executed").touch()
    return "nothing"
"""
ELSEWHERE = "elsewhere"


@contextmanager
def as_somebody_else(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    """With the configuration of another user."""
    with monkeypatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folder / ELSEWHERE))
        yield


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_location: str) -> str:
    """A finished run of somebody else's, all of whose cases failed, and the store that it is in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT)
    settings = Settings(agent="agent.py:agent", count=2, store=store_location)
    with as_somebody_else(monkeypatch, tmp_path):
        run = run_agent(settings).run
    (tmp_path / "executed").unlink()
    return run


def failed(store: str, run: str) -> str:
    with Store(store) as opened:
        return next(opened.outcomes(run, "failed")).case.id


def test_what_only_a_foreign_store_names_is_not_executed(
    foreign: str, store_location: str, misstep: Command, tmp_path: Path
) -> None:
    case, place = failed(store_location, foreign), ("--store", store_location)
    for command in (
        ("replay", f"{foreign}/{case}"),
        ("plan", "dissect", foreign, "--display", "none"),
        ("plan", "dissect", foreign, "--dry-run"),
        ("plan", "shrink", foreign, case, "--display", "none"),
    ):
        result = misstep(*command, *place)
        assert result.code == 2, result
        assert f"run {foreign} comes from another machine or user" in result.err
        assert "agent: agent.py:agent" in result.err
        assert "--trust-store" in result.err
        assert not (tmp_path / "executed").exists(), command


def test_it_is_executed_once_the_user_says_so(
    foreign: str, store_location: str, misstep: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding, place = f"{foreign}/{failed(store_location, foreign)}", ("--store", store_location)
    assert misstep("replay", finding, *place, "--agent", "agent.py:agent").code == 1
    assert (tmp_path / "executed").exists()
    assert misstep("replay", finding, *place, "--trust-store").code == 1
    monkeypatch.setenv("MISSTEP_TRUST_STORE", "true")
    assert misstep("replay", finding, *place).code == 1


@pytest.mark.parametrize("store_location", ["sqlite"], indirect=True)
def test_a_projects_file_can_neither_trust_a_store_nor_name_its_agent(
    foreign: str, store_location: str, misstep: Command, tmp_path: Path
) -> None:
    finding, place = f"{foreign}/{failed(store_location, foreign)}", ("--store", store_location)
    (tmp_path / "misstep.toml").write_text('agent = "agent.py:agent"\n')
    assert "comes from another machine or user" in misstep("replay", finding, *place).err
    (tmp_path / "misstep.toml").write_text("trust_store = true\n")
    refused = misstep("replay", finding, *place)
    assert refused.code == 2
    assert "misstep.toml:1" in refused.err
    assert "MISSTEP_TRUST_STORE" in refused.err
    assert not (tmp_path / "executed").exists()


def test_own_runs_need_no_more_than_before(store_location: str, misstep: Command, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    run = run_agent(Settings(agent="agent.py:agent", count=1, store=store_location)).run
    finding = f"{run}/{failed(store_location, run)}"
    again = misstep("replay", finding, "--store", store_location)
    assert again.code == 1
    assert "elsewhere" not in again.err


def change(location: str, statement: str, **values: object) -> None:
    with engine_of(location) as engine, engine.begin() as connection:
        connection.execute(sa.text(statement), values)


def test_a_run_that_somebody_has_changed_is_foreign(
    store_location: str, misstep: Command, tmp_path: Path
) -> None:
    """A simulated planner becomes a command; so does the address of a model."""
    (tmp_path / "agent.py").write_text(AGENT)
    settings = Settings(agent="sim:greedy", count=10, store=store_location)
    run = run_agent(settings).run
    finding = f"{run}/{failed(store_location, run)}"
    for old, new, named in (
        (b'"sim:greedy"', b'"agent.py:agent"', "agent: agent.py:agent"),
        (b'"model_base_url":""', b'"model_base_url":"http://evil.example/v1"', "http://evil.example/v1"),
        (b'"python":""', b'"python":"./python"', "interpreter: ./python"),
    ):
        with engine_of(store_location) as engine, engine.connect() as stored:
            kept = stored.scalar(sa.text("SELECT settings FROM runs WHERE id = :id"), {"id": run})
        changed = bytes(kept).replace(old, new)
        assert changed != kept
        change(store_location, "UPDATE runs SET settings = :new WHERE id = :id", new=changed, id=run)
        result = misstep("replay", finding, "--store", store_location)
        assert result.code == 2
        assert named in result.err
    assert not (tmp_path / "executed").exists()


def stopped_run(settings: Settings) -> str:
    with Store(settings.store, create=True) as store:
        return store.add_run(settings, 2, 1000.0).id


@pytest.mark.parametrize("store_location", ["sqlite"], indirect=True)
def test_foreign_runs_are_not_resumed_by_themselves(
    store_location: str, misstep: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    with as_somebody_else(monkeypatch, tmp_path):
        run = stopped_run(Settings(agent="agent.py:agent", count=2, store=store_location))
        fuzzed = keep_reports(Settings(store=store_location), "fuzz", REPORT.tools[:1])
    place = ("--store", store_location)
    for command in (("plan", "test", "--resume", run), ("tool", "fuzz", "--resume", fuzzed)):
        result = misstep(*command, *place)
        assert result.code == 2, result
        assert "comes from another machine or user" in result.err
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("store_location", ["sqlite"], indirect=True)
def test_a_finding_names_no_tools_but_those_of_its_run(
    store_location: str, misstep: Command, tmp_path: Path
) -> None:
    run = keep_reports(Settings(store=store_location), "fuzz", REPORT.tools)
    finding = REPORT.findings[0].id
    result = misstep("replay", f"{run}/{finding}", "--store", store_location)
    assert result.code == 2
    assert f"tools: {REPORT.findings[0].spec}" in result.err


def test_the_id_of_a_run_leads_no_report_out_of_its_folder(
    store_location: str, misstep: Command, tmp_path: Path
) -> None:
    run = run_agent(Settings(agent="sim:perfect", count=1, store=store_location)).run
    other = run_agent(Settings(agent="sim:perfect", count=1, store=store_location)).run
    (tmp_path / "README.html").write_text("precious")
    change(store_location, "UPDATE runs SET id = '../README' WHERE id = :id", id=run)
    for command in (("report", "../README"), ("show", "../README"), ("plan", "test", "--resume", "../")):
        result = misstep(*command, "--store", store_location)
        assert result.code == 2, result
        assert "run ../README is damaged" in result.err
    assert (tmp_path / "README.html").read_text() == "precious"
    listed = misstep("runs", "--store", store_location)
    assert listed.code == 0
    assert other in listed.out
    assert "run ../README is damaged: " in listed.out


def test_without_a_place_for_the_key_runs_are_foreign_and_the_message_says_why(
    misstep: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    run = run_agent(Settings(agent="agent.py:agent", count=1, store="s.db")).run
    result = misstep("replay", f"{run}/{failed('s.db', run)}", "--store", "s.db")
    assert result.code == 2
    assert str(tmp_path / "file" / "misstep" / "key") in result.err
    assert "--trust-store" in result.err


def test_a_key_that_others_can_read_signs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with Store(str(tmp_path / "s.db"), create=True) as store:
        assert is_ours_(store.add_run(Settings(), 1, 0.0))
    assert key_path().stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "other"))
    key_path().parent.mkdir(parents=True)
    key_path().write_bytes(os.urandom(32))
    key_path().chmod(0o644)
    with Store(str(tmp_path / "s.db")) as store:
        assert not is_ours_(store.add_run(Settings(), 1, 0.0))


def is_ours_(run: object) -> bool:
    return is_ours(run.id, run.settings, run.purpose)  # type: ignore[attr-defined]


def test_processes_that_make_the_key_at_once_share_it(tmp_path: Path) -> None:
    source = "from misstep.store.trust import _find_key, key_path; print(_find_key(key_path()).hex())"
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}
    command = [sys.executable, "-c", source]
    several = [subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) for _ in range(6)]
    keys = {process.communicate()[0].strip() for process in several}
    assert len(keys) == 1
    assert len(keys.pop()) == 64


def test_the_case_of_a_regression_test_is_no_path(misstep: Command, tmp_path: Path) -> None:
    run = run_agent(Settings(agent="sim:greedy", count=10, store="s.db")).run
    with Store("s.db") as store:
        outcome = next(store.outcomes(run, "failed"))
        name = "../" + outcome.case.id
        other = msgspec.structs.replace(outcome, case=msgspec.structs.replace(outcome.case, id=name))
        with store.sit(run, 0.0) as seat:
            seat.keep([other], Spent())
    folder = tmp_path / "inside"
    folder.mkdir()
    os.chdir(folder)
    misstep("plan", "shrink", run, name, "--emit", "pytest", "--store", "../s.db", "--display", "none")
    assert not list(tmp_path.glob("*.py"))
    assert len(list(folder.glob("test_misstep_*.py"))) == 1
