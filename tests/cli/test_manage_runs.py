"""Names, tags and deletion of runs."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from misstep.cli import run
from misstep.store.runs import Store

PLAN = ["plan", "test", "--agent", "sim:random", "--count", "6", "--fail-on", "none", "--display", "none"]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(capsys: pytest.CaptureFixture[str], *more: str) -> str:
    assert run([*PLAN, "--json", *more]) == 0
    name: str = json.loads(capsys.readouterr().out)["run"]
    return name


def listed(capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, tuple[str, list[str]]]:
    assert run(["runs", "--json", *more]) == 0
    lines = json.loads(capsys.readouterr().out)["runs"]
    return {line["run"]: (line["name"], line["tags"]) for line in lines}


def shown(capsys: pytest.CaptureFixture[str], name: str) -> str:
    assert run(["show", name, "--json"]) == 0
    run_id: str = json.loads(capsys.readouterr().out)["run"]
    return run_id


def test_runs_are_named_and_tagged_when_they_start(capsys: pytest.CaptureFixture[str]) -> None:
    first = made(capsys, "--name", "before", "--tag", "ci", "--tag", "gpt-4o")
    other = made(capsys)
    assert listed(capsys) == {other: ("", []), first: ("before", ["ci", "gpt-4o"])}
    assert shown(capsys, "before") == first
    assert run(["runs"]) == 0
    assert "before #ci #gpt-4o" in capsys.readouterr().out


def test_a_name_stands_for_the_newest_run_that_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "--name", "nightly")
    second = made(capsys, "--name", "nightly")
    assert shown(capsys, "nightly") == second


def test_an_id_comes_before_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    first = made(capsys)
    made(capsys, "--name", first)
    assert shown(capsys, first) == first


def test_names_and_tags_can_be_changed_later(capsys: pytest.CaptureFixture[str]) -> None:
    name = made(capsys)
    assert run(["runs", "name", "last", "after"]) == 0
    assert run(["runs", "tag", "after", "b", "a", "b"]) == 0
    assert listed(capsys) == {name: ("after", ["b", "a"])}
    assert run(["runs", "tag", "after", "b", "--remove"]) == 0
    assert run(["runs", "name", name, ""]) == 0
    assert listed(capsys) == {name: ("", ["a"])}


def test_no_tag_is_lost_when_several_are_added_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    name = made(capsys, "--name", "mine")
    tags = [f"t{number}" for number in range(16)]

    def add(tag: str) -> None:
        with Store(".misstep/store.db") as store:
            store.tag_run(name, [tag])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, tags))
    ((called, found),) = listed(capsys).values()
    assert (called, sorted(found)) == ("mine", sorted(tags))


def test_runs_are_listed_by_tags(capsys: pytest.CaptureFixture[str]) -> None:
    both = made(capsys, "--tag", "a", "--tag", "b")
    one = made(capsys, "--tag", "a")
    assert {*listed(capsys, "--tag", "a")} == {both, one}
    assert {*listed(capsys, "--tag", "a", "--tag", "b")} == {both}
    assert run(["runs", "--tag", "c"]) == 0
    assert capsys.readouterr().out == "no runs with the tag c\n"


@pytest.mark.parametrize("bad", ["last", "a/b", "a b", "-x", "x" * 65, "ä", "x\n"])
def test_names_and_tags_that_could_be_misread_are_refused(
    bad: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = made(capsys)
    for command in (["name", "last", "--", bad], ["tag", "last", "--", bad]):
        assert run(["runs", *command]) == 2
        assert "letters, digits" in capsys.readouterr().err
    for flag in ("--name", *(["--tag"] if bad.strip() == bad else [])):  # spaces around tags don't count
        assert run([*PLAN, f"{flag}={bad}"]) == 2
        assert "letters, digits" in capsys.readouterr().err
    assert listed(capsys) == {name: ("", [])}


def test_a_run_that_analyses_another_does_not_inherit_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    name = made(capsys, "--name", "before", "--tag", "ci")
    dissect = ["plan", "dissect", "before", "--sample", "1", "--most-runs", "3", "--json"]
    assert run([*dissect, "--display", "none", "--tag", "why"]) == 0
    capsys.readouterr()
    found = listed(capsys)
    assert found.pop(name) == ("before", ["ci"])
    assert list(found.values()) == [("", ["why"])]


def rows(place: Path) -> dict[str, int]:
    with sqlite3.connect(place / ".misstep" / "store.db") as connection:
        tables = ["runs", "outcomes", "records", "tool_reports", "labels", "sittings"]
        return {name: connection.execute(f"select count(*) from {name}").fetchone()[0] for name in tables}


def test_deleting_a_run_leaves_nothing_of_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys)
    before = rows(project)
    other = made(capsys)
    assert run(["runs", "rm", other, "--yes"]) == 0
    assert rows(project) == before
    assert other not in listed(capsys)
    assert run(["show", other]) == 2
    capsys.readouterr()
    assert made(capsys) != other


def test_deleting_needs_a_yes(capsys: pytest.CaptureFixture[str]) -> None:
    name = made(capsys)
    assert run(["runs", "rm", name]) == 2
    assert "add --yes" in capsys.readouterr().err
    assert {*listed(capsys)} == {name}


def test_nothing_is_deleted_if_one_name_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    name = made(capsys)
    assert run(["runs", "rm", name, "nope", "--yes"]) == 2
    capsys.readouterr()
    assert {*listed(capsys)} == {name}


def test_an_analysed_run_is_deleted_only_with_its_analysis(capsys: pytest.CaptureFixture[str]) -> None:
    name = made(capsys)
    assert run(["plan", "dissect", name, "--sample", "1", "--most-runs", "3", "--display", "none"]) == 0
    capsys.readouterr()
    (other,) = {*listed(capsys)} - {name}
    assert run(["runs", "rm", name, "--yes"]) == 2
    assert f"misstep runs rm {name} {other}" in capsys.readouterr().err
    assert run(["runs", "rm", name, other, "--yes"]) == 0
    assert listed(capsys) == {}


def test_a_run_in_progress_is_not_deleted(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, other = made(capsys), made(capsys)
    before = rows(project)
    with Store(".misstep/store.db") as store, store.sit(name, 1.0):
        assert run(["runs", "rm", other, name, "--yes"]) == 2
        assert f"run {name} is in progress" in capsys.readouterr().err
    assert {**rows(project), "sittings": 0} == {**before, "sittings": 0}


def test_an_empty_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs", ""]) == 2
    assert "no such command ''" in capsys.readouterr().err
