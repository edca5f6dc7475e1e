"""Files that are stores, and files that are not: those are left alone."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from misstep.core.spending import Spent
from misstep.errors import MisstepError, StoreError
from misstep.store.runs import Store
from misstep.store.tables import STORE_VERSION
from tests.store.samples import new_run, outcome

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["what?.db", "h#x%41.db", ":memory:", "with space.db", "ünï.db", "a&b=c"])
def test_any_file_name_is_a_file_name(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store(name, create=True) as store:
        new_run(store)
    for location in (name, f"sqlite:///{tmp_path}/{name}"):
        with Store(location) as store:
            assert len(store.list_runs()) == 1
            assert store.location == location
    assert os.listdir(tmp_path) == [name]


def test_a_file_is_written_ahead_and_all_the_way_to_the_disk(tmp_path: Path) -> None:
    with Store(str(tmp_path / "store.db"), create=True) as store:
        settings = {}
        with store._database.reading() as connection:
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout"):
                settings[name] = connection.execute(f"PRAGMA {name}")[0][0]
    assert settings == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30000}


@pytest.mark.parametrize(
    ("folder", "kept"), [(".misstep", [".gitignore", "store.db"]), ("mine", ["store.db"])]
)
def test_git_ignores_the_usual_folder(tmp_path: Path, folder: str, kept: list[str]) -> None:
    Store(str(tmp_path / folder / "store.db"), create=True).__exit__()
    assert sorted(os.listdir(tmp_path / folder)) == kept
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    told = subprocess.run(
        ["git", "status", "--short"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert told.stdout == ("" if folder == ".misstep" else "?? mine/\n")


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store here yet"):
        Store(str(tmp_path / "store.db"))
    assert list(tmp_path.iterdir()) == []


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE cats (name TEXT)")


def of_version(version: int, path: Path) -> None:
    Store(str(path), create=True).__exit__()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda path: path.write_bytes(b"Dear diary, " * 100), "it is not a SQLite file"),
        (foreign, "it is a database of some other program"),
        (
            partial(of_version, 99),
            f"it is a version 99 store, made by a newer misstep; this version reads {STORE_VERSION}",
        ),
        (
            partial(of_version, 5),
            f"it is a version 5 store, made by a misstep before 0.2; this version reads {STORE_VERSION}",
        ),
        (Path.mkdir, "unable to open database file"),
    ],
    ids=["text", "foreign", "newer", "older", "directory"],
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


def test_a_place_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="the store can't be created"):
        Store(str(tmp_path / "file" / "store.db"), create=True)


def test_a_store_of_another_kind() -> None:
    with pytest.raises(MisstepError, match="stores of the kind 'mysql' are not supported") as error:
        Store("mysql://root:hunter2@localhost/x", create=True)
    assert "hunter2" not in str(error.value)


def test_a_damaged_outcome_is_told(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store(str(path), create=True) as store:
        run = new_run(store)
        with store.sit(run, 0.0) as writer:
            writer.keep([outcome(1)], Spent())
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE records SET document = x'7b'")
            connection.commit()
        with pytest.raises(StoreError, match=f"run {run} is damaged"):
            list(store.outcomes(run))
        with pytest.raises(StoreError, match=f"run {run} is damaged"):
            store.find_outcome(run, outcome(1).case.id)
        assert store.tally(run).cases == 1


def remove(path: Path) -> None:
    for file in path.parent.glob("store.db*"):
        file.unlink()


def replace(path: Path) -> None:
    Store(str(path.with_name("other.db")), create=True).__exit__()
    path.with_name("other.db").replace(path)


def remove_everything(path: Path) -> None:
    shutil.rmtree(path.parent)


@pytest.mark.parametrize("take_away", [remove, replace, remove_everything])
def test_a_store_that_is_taken_away_is_missed_at_once(
    tmp_path: Path, take_away: Callable[[Path], None]
) -> None:
    path = tmp_path / "place" / "store.db"
    with Store(str(path), create=True) as store:
        run = new_run(store)

        def lose() -> None:
            with store.sit(run, 0.0) as writer:
                writer.keep([outcome(1)], Spent())
                take_away(path)
                writer.keep([outcome(2)], Spent())

        with pytest.raises(StoreError, match="the store was deleted during the run"):
            lose()
    if take_away is not replace:
        assert not path.exists()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can look into, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="misstep-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def look(path: Path) -> str:
    """What somebody sees who may not write there."""
    path.chmod(0o444)
    path.parent.chmod(0o555)
    command = [sys.executable, "-m", "tests.store.worker", "look", str(path)]
    seen = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    path.parent.chmod(0o755)
    return seen


def test_a_store_in_a_read_only_place_can_be_read(open_folder: Path) -> None:
    path = open_folder / "store.db"
    with Store(str(path), create=True) as store:
        run = new_run(store)
        with store.sit(run, 0.0) as writer:
            writer.keep([outcome(1), outcome(2)], Spent())
    assert look(path) == "[2]"
    assert os.listdir(open_folder) == ["store.db"]
