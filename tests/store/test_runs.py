"""The store: what goes in comes out, and a file that isn't one is left alone."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from misstep.core.outcome import Outcome
from misstep.core.settings import Settings, Span
from misstep.core.summary import Summary, Tally
from misstep.core.transcript import Call, Transcript
from misstep.core.verdict import Verdict
from misstep.errors import MisstepError, StoreError, UsageError
from misstep.planning.suite import Suite, make_case
from misstep.store.runs import Store

SETTINGS = Settings(agent="sim:perfect", actions=Span(2, 4), agent_args={"a": "b"}, topics=("baker",))


def outcome(number: int, verdict: str = "passed") -> Outcome:
    case = make_case(Suite(0, 3, 5), number)
    transcript = Transcript(case.id, (Call("x\x00\u202e", {"deep": [{"y": None}]}, "ok", 1, 0.5),))
    return Outcome(case, transcript, Verdict(case.id, verdict), 0.25)  # type: ignore[arg-type]


def summary(run: str) -> Summary:
    return Tally().summary(run, "sim:perfect")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path / "a" / "store.db"), create=True) as store:
        yield store


def test_a_run_comes_back_as_it_was(store: Store) -> None:
    run = store.add_run(SETTINGS, 3, started=1000.5).id
    outcomes = [outcome(1), outcome(2, "failed"), outcome(3, "errored")]
    for each in outcomes:
        store.add_outcome(run, each)
    found = store.find_run(run)
    assert (found.settings, found.total, found.done, found.started, found.summary) == (
        SETTINGS,
        3,
        3,
        1000.5,
        None,
    )
    assert list(store.outcomes(run)) == outcomes
    assert list(store.outcomes(run, "failed")) == outcomes[1:2]
    store.finish_run(run, summary(run))
    assert store.find_run(run).summary == summary(run)


def test_it_is_all_there_after_reopening(tmp_path: Path) -> None:
    location = f"sqlite:///{tmp_path}/store.db"
    with Store(location, create=True) as store:
        run = store.add_run(SETTINGS, 1, 0.0).id
        store.add_outcome(run, outcome(1))
    with Store(location) as store:
        assert store.find_outcome(run, outcome(1).case.id) == outcome(1)


def test_a_second_outcome_of_a_case_is_not_counted(store: Store) -> None:
    run = store.add_run(SETTINGS, 1, 0.0).id
    store.add_outcome(run, outcome(1))
    store.add_outcome(run, outcome(1, "failed"))
    assert list(store.outcomes(run)) == [outcome(1)]
    assert not store.add_outcome(run, outcome(1))
    assert store.add_outcome(run, outcome(2))


def test_runs_are_found_by_prefix_and_as_last(store: Store) -> None:
    ids = [store.add_run(SETTINGS, 1, float(i)).id for i in range(40)]
    assert [run.id for run in store.list_runs()] == ids[::-1]
    assert store.find_run("last").id == ids[-1]
    assert store.find_run(ids[7][:6]).id == ids[7]
    with pytest.raises(UsageError, match="could be any of several runs"):
        store.find_run("")
    for name in ("nope!", "%", "_"):
        with pytest.raises(UsageError, match="there is no run"):
            store.find_run(name)


def test_cases_are_found_by_prefix(store: Store) -> None:
    run = store.add_run(SETTINGS, 1, 0.0).id
    for number in range(30):
        store.add_outcome(run, outcome(number))
    assert store.find_outcome(run, outcome(3).case.id[:9]) == outcome(3)
    with pytest.raises(UsageError, match="could be any of several cases"):
        store.find_outcome(run, "")
    with pytest.raises(UsageError, match="there is no case 'zzz'"):
        store.find_outcome(run, "zzz")


def test_an_exact_name_wins_over_a_beginning(store: Store) -> None:
    run = store.add_run(SETTINGS, 1, 0.0).id
    names = ("case1", "case10", "CASE1")
    for name in names:
        store.add_outcome(
            run, msgspec.structs.replace(outcome(1), case=msgspec.structs.replace(outcome(1).case, id=name))
        )
    assert [store.find_outcome(run, name).case.id for name in names] == list(names)


@pytest.mark.parametrize("name", ["what?.db", "h#x%41.db", ":memory:", "with space.db", "ünï.db"])
def test_any_file_name_is_a_file_name(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store(name, create=True) as store:
        store.add_run(SETTINGS, 1, 0.0)
    with Store(name) as store:
        assert len(store.list_runs()) == 1
    assert (tmp_path / name).exists()


def test_two_connections_can_share_a_store(tmp_path: Path) -> None:
    location = str(tmp_path / "store.db")
    with Store(location, create=True) as one, Store(location, create=True) as other:
        runs = [one.add_run(SETTINGS, 9, 0.0).id, other.add_run(SETTINGS, 9, 0.0).id]
        for number in range(9):
            one.add_outcome(runs[0], outcome(number))
            other.add_outcome(runs[1], outcome(number))
        assert {run.done for run in one.list_runs()} == {9}


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store here yet"):
        Store(str(tmp_path / "store.db"))
    assert list(tmp_path.iterdir()) == []


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE cats (name TEXT)")


def newer(path: Path) -> None:
    Store(str(path), create=True).__exit__()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda path: path.write_bytes(b"Dear diary, " * 100), "it is not a SQLite file"),
        (foreign, "it is a database of some other program"),
        (newer, "it is a store of version 99, made by a newer misstep; this one knows 1"),
        (Path.mkdir, "unable to open database file"),
    ],
    ids=["text", "foreign", "newer", "directory"],
)
@pytest.mark.parametrize("create", [True, False])
def test_what_is_not_a_store_is_refused_and_left_alone(
    tmp_path: Path, make: Callable[[Path], object], complaint: str, create: bool
) -> None:
    path = tmp_path / "store.db"
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(StoreError) as error:
        Store(str(path), create=create)
    assert complaint in str(error.value)
    assert str(error.value).startswith(f"{path}  ")
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_store_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(MisstepError, match="stores of the kind 'mysql' are not supported"):
        Store("mysql://localhost/x", create=True)


def test_a_damaged_outcome_is_told(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store(str(path), create=True) as store:
        run = store.add_run(SETTINGS, 1, 0.0).id
        store.add_outcome(run, outcome(1))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE outcomes SET outcome = x'7b'")
            connection.commit()
        with pytest.raises(StoreError, match="holds something unreadable"):
            list(store.outcomes(run))
        with pytest.raises(StoreError, match="holds something unreadable"):
            store.find_outcome(run, outcome(1).case.id)


def test_no_outcome_is_larger_than_it_needs_to_be() -> None:
    assert len(msgspec.json.encode(outcome(1))) < 4_000
