"""Sittings: one at a time, everything or nothing, nothing twice."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import pytest

from misstep.core.outcome import Usage
from misstep.core.spending import Spent
from misstep.errors import StoreError, UsageError
from misstep.store import sqlite
from misstep.store.location import find_database
from misstep.store.runs import Store
from tests.store.samples import new_run, outcome

ROOT = Path(__file__).parents[2]


def eventually(is_so: Callable[[], bool]) -> None:
    """A server notices after a moment that somebody has gone."""
    until = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_second_outcome_of_a_case_is_not_counted(store: Store) -> None:
    run = new_run(store)
    with store.sit(run, 0.0) as writer:
        assert writer.keep([outcome(1), outcome(1, "failed")], Spent()) == [True, False]
        assert writer.keep([outcome(2), outcome(1, "errored"), outcome(3)], Spent()) == [True, False, True]
        assert writer.keep([], Spent()) == []
    assert list(store.outcomes(run)) == [outcome(1), outcome(2), outcome(3)]


def test_more_outcomes_than_a_statement_can_take(store: Store) -> None:
    run = new_run(store)
    arrived = [outcome(number) for number in range(250)]
    with store.sit(run, 0.0) as writer:
        writer.keep(arrived[100:120], Spent())
        assert writer.keep(arrived, Spent()) == [not 100 <= number < 120 for number in range(250)]
    assert list(store.outcomes(run)) == arrived[100:120] + arrived[:100] + arrived[120:]


def test_what_all_sittings_spent_is_summed_up(store: Store) -> None:
    run = new_run(store)
    assert store.spent(run) == Spent()
    with store.sit(run, 0.0) as writer:
        writer.keep([outcome(1)], Spent({"agent": Usage(1, 2, 3)}, 4, 0.5))
        writer.keep([], Spent({"agent": Usage(10, 20, 30)}, 40, 5.0))
    with store.sit(run, 1.0) as writer:
        writer.keep([outcome(2)], Spent({"agent": Usage(1, 1, 1), "judge": Usage(7)}, 1, 0.25))
    assert store.spent(run) == Spent({"agent": Usage(11, 21, 31), "judge": Usage(7)}, 41, 5.25)


@contextmanager
def missing(location: str, table: str) -> Iterator[None]:
    """While this lasts, the table can't be found."""
    database = find_database(location)
    with database.connection() as connection:
        connection.execute(f"ALTER TABLE {table} RENAME TO hidden")
    try:
        yield
    finally:
        with database.connection() as connection:
            connection.execute(f"ALTER TABLE hidden RENAME TO {table}")
        database.close()


@pytest.mark.parametrize("table", ["records", "sittings"])
def test_outcomes_are_kept_all_or_none(store: Store, store_location: str, table: str) -> None:
    run = new_run(store)
    with store.sit(run, 0.0) as writer:
        writer.keep([outcome(1)], Spent(calls=1))
        with missing(store_location, table), pytest.raises(StoreError, match="can't be used"):
            writer.keep([outcome(2), outcome(3)], Spent(calls=2))
        assert (store.tally(run).cases, store.spent(run).calls) == (1, 1)
        assert writer.keep([outcome(2), outcome(3)], Spent(calls=2)) == [True, True]
    assert list(store.outcomes(run)) == [outcome(1), outcome(2), outcome(3)]


def test_a_sitting_is_exclusive(store: Store, store_location: str) -> None:
    run, other = new_run(store), new_run(store)
    with Store(store_location) as second:
        assert not second.is_held(run)
        with store.sit(run, 0.0):
            assert second.is_held(run)
            assert not second.died(run)
            with pytest.raises(UsageError) as refusal, second.sit(run, 0.0):
                pass
            known = "another process" if "://" in store_location else f"process {os.getpid()}"
            assert (
                str(refusal.value)
                == f"run {run} is in progress in {known}\n  wait for it to finish, or stop it first"
            )
            with second.sit(other, 0.0):
                assert store.is_held(other)
        assert not second.is_held(run)
        with second.sit(run, 0.0):
            assert store.is_held(run)


@pytest.mark.full(after=1)
def test_looking_whether_a_run_is_held_disturbs_nobody(store: Store) -> None:
    run = new_run(store)
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            store.is_held(run)

    watchers = [threading.Thread(target=look) for _ in range(2)]
    for watcher in watchers:
        watcher.start()
    try:
        for number in range(50):
            with store.sit(run, 0.0) as writer:
                assert writer.keep([outcome(number)], Spent()) == [True]
    finally:
        stop.set()
        for watcher in watchers:
            watcher.join()


def test_what_goes_wrong_during_a_sitting_is_not_blamed_on_the_store(store: Store) -> None:
    with pytest.raises(msgspec.DecodeError), store.sit(new_run(store), 0.0):
        msgspec.json.decode(b"{")


def test_an_end_is_written_down_however_it_comes(store: Store) -> None:
    run = new_run(store)
    assert not store.died(run)
    with store.sit(run, 0.0):
        pass
    assert not store.died(run)
    with pytest.raises(KeyboardInterrupt), store.sit(run, 0.0):
        raise KeyboardInterrupt
    assert not store.died(run)
    assert not store.is_held(run)


@contextmanager
def sitting_elsewhere(location: str, run: str) -> Iterator["subprocess.Popen[str]"]:
    """Another process that has kept one outcome and doesn't go away."""
    command = [sys.executable, "-m", "tests.store.worker", "sit", location, run]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            assert process.stdout.readline() == "1\n"
            yield process
        finally:
            process.kill()


def test_a_killed_process_holds_nothing_and_is_known_to_have_died(store: Store, store_location: str) -> None:
    run = new_run(store)
    with sitting_elsewhere(store_location, run) as process:
        assert store.is_held(run)
        assert not store.died(run)
        with (
            pytest.raises(UsageError, match=r"is in progress in (another process|process \d+)"),
            store.sit(run, 0.0),
        ):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        while store.is_held(run):  # a server needs a moment to notice
            pass
        assert store.died(run)
        with store.sit(run, 0.0) as writer:
            assert writer.keep([outcome(0), outcome(1)], Spent()) == [False, True]
            assert store.died(run)
        assert store.died(run)  # whatever killed it may do so again


def test_no_lock_file_is_left(tmp_path: Path) -> None:
    with Store(str(tmp_path / "store.db"), create=True) as store:
        run = new_run(store)
        with store.sit(run, 0.0):
            assert (tmp_path / f"store.db-{run}.lock").exists()
    assert os.listdir(tmp_path) == ["store.db"]


def test_a_lock_file_left_by_a_dead_process_is_no_obstacle(tmp_path: Path) -> None:
    with Store(str(tmp_path / "store.db"), create=True) as store:
        run = new_run(store)
        (tmp_path / f"store.db-{run}.lock").touch()
        assert not store.is_held(run)
        with store.sit(run, 0.0):
            assert store.is_held(run)
    assert os.listdir(tmp_path) == ["store.db"]


def test_two_names_of_a_store_are_one_place(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "store.db")
    with Store(str(tmp_path / "store.db"), create=True) as store, Store(str(tmp_path / "link.db")) as other:
        run = new_run(store)
        with store.sit(run, 0.0):
            assert other.is_held(run)


def test_a_lock_that_cannot_be_had_does_not_break_a_run(tmp_path: Path) -> None:
    with Store(str(tmp_path / "store.db"), create=True) as store:
        run = new_run(store)
        (tmp_path / f"store.db-{run}.lock").mkdir()  # can't be opened as a file
        with store.sit(run, 0.0) as writer:
            assert writer.keep([outcome(1)], Spent()) == [True]
        assert not store.is_held(run)


def test_without_locks_in_the_system_there_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "fcntl", None)
    with sqlite.locked(tmp_path / "lock"), sqlite.locked(tmp_path / "lock"):
        assert not sqlite.is_locked(tmp_path / "lock")
    assert os.listdir(tmp_path) == []


def test_a_run_with_an_evil_name_locks_no_file_elsewhere(tmp_path: Path) -> None:
    location = str(tmp_path / "a" / "store.db")
    Store(location, create=True).__exit__()
    database = find_database(location)
    with database.hold("../../evil"):
        assert database.is_held("../../evil")
        assert os.listdir(tmp_path) == ["a"]
        assert len(list((tmp_path / "a").glob("*.lock"))) == 1
    database.close()


def test_a_forked_child_that_lives_on_does_not_keep_a_run(store_location: str) -> None:
    """Its parent is killed in the middle of the run, as by an agent that has forked a daemon."""
    location = store_location
    source = """
import os, sys, time
from misstep.store.runs import Store
from tests.store.samples import new_run
with Store(sys.argv[1], create=True) as store:
    run = new_run(store)
    with store.sit(run, 0.0):
        child = os.fork()
        if child == 0:
            os.close(1)
            time.sleep(600)
            os._exit(0)
        print(run, child, flush=True)
        sys.stdin.read()
        os._exit(1)
"""
    command = [sys.executable, "-c", source, location]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdin
        assert process.stdout
        run, child = process.stdout.readline().split()
        try:
            with Store(location) as store:
                with (
                    pytest.raises(UsageError, match="in progress"),
                    store.sit(run, 0.0),
                ):
                    pass
                assert store.is_held(run)
                assert store.holder(run) in (process.pid, 0)  # a server does not tell
                process.stdin.close()
                process.wait()
                os.kill(int(child), 0)
                eventually(lambda: not store.is_held(run))
                with store.sit(run, 0.0):
                    pass
        finally:
            os.kill(int(child), signal.SIGKILL)


def test_a_forked_child_that_comes_to_its_end_leaves_the_connection_to_its_parent(
    postgresql_location: str,
) -> None:
    """It closes all that it has inherited, as the end of a program does."""
    with Store(postgresql_location, create=True) as store:
        run = new_run(store)
        with store._database.hold(run) as hold:
            if (child := os.fork()) == 0:
                with suppress(BaseException):
                    hold.connection.close()
                    store.__exit__()
                os._exit(0)
            os.waitpid(child, 0)
            with Store(postgresql_location) as other:
                assert other.is_held(run)
            with hold.connection.begin():
                assert hold.connection.execute("SELECT 1") == [(1,)]


def test_a_forked_child_that_comes_to_its_end_leaves_the_lock_to_its_parent(tmp_path: Path) -> None:
    path, child = tmp_path / "lock", -1
    try:
        with sqlite.locked(path):
            if (child := os.fork()) == 0:
                raise SystemExit
            assert os.waitpid(child, 0)[1] == 0
            assert sqlite.is_locked(path)
    except SystemExit:
        os._exit(0)
    assert not path.exists()
