"""What was acknowledged is there, whatever happens: killed processes, torn logs, full disks."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from misstep.core.spending import Spent
from misstep.errors import StoreError
from misstep.store.runs import Store
from tests.store.samples import new_run, outcome
from tests.store.worker import BATCH

ROOT = Path(__file__).parents[2]


def worker(*arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.store.worker", *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def prepare(location: str) -> str:
    with Store(location, create=True) as store:
        return new_run(store, 3000)


def check(location: str, run: str, acknowledged: int) -> int:
    """Whole batches, from the first on, at least as many as were acknowledged."""
    if "://" not in location:
        with closing(sqlite3.connect(location)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    with Store(location) as store:
        outcomes = list(store.outcomes(run))
        assert outcomes == [outcome(number) for number in range(len(outcomes))]
        assert len(outcomes) % BATCH == 0
        assert len(outcomes) >= acknowledged
        assert store.tally(run).cases == len(outcomes)
        assert store.find_run(run).done == len(outcomes)
    return len(outcomes)


@pytest.mark.full
def test_a_process_killed_at_any_moment_loses_nothing_it_acknowledged(store_location: str) -> None:
    dice = random.Random(0)
    run = prepare(store_location)
    acknowledged = 0
    with worker("nurse", store_location, run) as nursery, Store(store_location) as store:
        for _ in range(20):
            said = kill_one(nursery, dice)
            acknowledged = check(store_location, run, max(acknowledged, *said))
            while store.is_held(run):  # a server needs a moment to notice
                pass
            assert store.died(run)
        assert nursery.stdin
        nursery.stdin.close()
    assert acknowledged > 20


def kill_one(nursery: "subprocess.Popen[str]", dice: random.Random) -> list[int]:
    """Everything that a process acknowledged before it was killed at some moment."""
    assert nursery.stdin
    assert nursery.stdout
    nursery.stdin.write("\n")
    nursery.stdin.flush()
    child = int(nursery.stdout.readline())
    said = [int(nursery.stdout.readline()) for _ in range(dice.randrange(1, 12))]
    time.sleep(dice.random() * 0.01)
    os.kill(child, signal.SIGKILL)
    return said + [int(line) for line in iter(nursery.stdout.readline, "gone\n")]


@pytest.mark.full(after=1)
def test_two_processes_lose_nothing_of_each_other(store_location: str) -> None:
    workers = [worker("add", store_location, str(start)) for start in (0, 1000, 2000)]
    runs = [process.communicate()[0].strip() for process in workers]
    assert [process.returncode for process in workers] == [0, 0, 0]
    with Store(store_location) as store:
        for start, run in zip((0, 1000, 2000), runs, strict=True):
            assert list(store.outcomes(run)) == [outcome(start + number) for number in range(60)]
            assert store.find_run(run).done == 60


def test_a_log_cut_anywhere_leaves_whole_commits(tmp_path: Path) -> None:
    dice = random.Random(0)
    path = tmp_path / "store.db"
    run = prepare(str(path))
    with Store(str(path)) as store, store.sit(run, 0.0) as writer:
        for start in range(0, 60, BATCH):
            writer.keep([outcome(number) for number in range(start, start + BATCH)], Spent())
        log = (tmp_path / "store.db-wal").read_bytes()
        copy = tmp_path / "copy.db"
        found = []
        for _ in range(30):
            shutil.copy(path, copy)
            (tmp_path / "copy.db-wal").write_bytes(log[: dice.randrange(len(log) + 1)])
            found.append(check(str(copy), run, 0))
    assert len(set(found)) > 5


def test_noise_at_the_end_of_a_log_leaves_whole_commits(tmp_path: Path) -> None:
    dice = random.Random(1)
    path, copy = tmp_path / "store.db", tmp_path / "copy.db"
    run = prepare(str(path))
    with Store(str(path)) as store, store.sit(run, 0.0) as writer:
        for start in range(0, 30, BATCH):
            writer.keep([outcome(number) for number in range(start, start + BATCH)], Spent())
        log = (tmp_path / "store.db-wal").read_bytes()
    for _ in range(10):
        shutil.copy(path, copy)
        place = dice.randrange(len(log))
        (tmp_path / "copy.db-wal").write_bytes(log[:place] + dice.randbytes(len(log) - place))
        check(str(copy), run, 0)


def test_a_file_that_may_not_grow_keeps_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    run = prepare(str(path))
    with worker("work_within", str(path), run, "500000") as process:
        *lines, last = process.communicate()[0].splitlines()
    assert process.returncode == 0
    assert "the store can't be used" in last
    assert "stored data is safe" in last
    assert check(str(path), run, int(lines[-1])) > 20
    with Store(str(path)) as store, store.sit(run, 0.0) as writer:
        assert writer.keep([outcome(2999)], Spent()) == [True]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a small file system can't be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_told_and_nothing_is_lost(tiny_disk: Path, tmp_path: Path) -> None:
    path = tiny_disk / "store.db"
    run = prepare(str(path))
    kept: list[bool] = []

    def fill(store: Store) -> None:
        with store.sit(run, 0.0) as writer:
            while True:
                done = len(kept)
                kept.extend(writer.keep([outcome(number) for number in range(done, done + BATCH)], Spent()))

    with Store(str(path)) as store, pytest.raises(StoreError, match="the disk is full"):
        fill(store)
    shutil.copytree(tiny_disk, tmp_path / "larger")
    assert check(str(tmp_path / "larger" / "store.db"), run, len(kept)) == len(kept) > 20
