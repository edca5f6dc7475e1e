"""Another process at work on a store: `python -m tests.store.worker WHAT LOCATION …`."""

import os
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

from misstep.core.spending import Spent
from misstep.errors import StoreError
from misstep.store.runs import Store
from tests.store.samples import new_run, outcome

BATCH = 3


def say(word: object) -> None:
    """A whole line in one write: a process that is killed has said all of it or nothing."""
    os.write(1, f"{word}\n".encode())


def sit(location: str, run: str) -> None:
    """Keep one outcome and stay."""
    with Store(location) as store, store.sit(run, 0.0) as writer:
        writer.keep([outcome(0)], Spent())
        say(1)
        time.sleep(600)


def work(location: str, run: str) -> None:
    """Go on where the run is, saying after every commit how many outcomes it has."""
    with Store(location) as store, store.sit(run, 0.0) as writer:
        done = store.tally(run).cases
        say(os.getpid())
        say(done)
        while done < 3000:
            writer.keep([outcome(number) for number in range(done, done + BATCH)], Spent(calls=done + BATCH))
            done += BATCH
            say(done)


def nurse(location: str, run: str) -> None:
    """For every line that comes in: another process at work, until it is gone."""
    for _ in sys.stdin:
        if (child := os.fork()) == 0:
            work(location, run)
            os._exit(0)
        os.waitpid(child, 0)
        say("gone")


def work_within(location: str, run: str, room: str) -> None:
    """The same with a limit on the size of files; the last word is what stopped it."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(room), int(room)))
    try:
        work(location, run)
    except StoreError as error:
        say(repr(str(error)))


def add(location: str, start: str) -> None:
    """A run of its own in a store that others use as well."""
    with Store(location, create=True) as store:
        run = new_run(store)
        with store.sit(run, 0.0) as writer:
            for number in range(60):
                assert writer.keep([outcome(int(start) + number)], Spent()) == [True]
        say(run)


def look(location: str) -> None:
    """Open a store as somebody who may not write there; say what is in it."""
    with tempfile.TemporaryDirectory() as folder:  # whatever has to be loaded may be out of reach later
        Store(str(shutil.copy(location, Path(folder) / "copy.db"))).__exit__()
    if os.geteuid() == 0:
        os.setresuid(65534, 65534, 65534)
    try:
        with Store(location) as store:
            say([run.done for run in store.list_runs()])
    except StoreError as error:
        say(str(error))


if __name__ == "__main__":
    what = {"sit": sit, "nurse": nurse, "work_within": work_within, "add": add, "look": look}[sys.argv[1]](
        *sys.argv[2:]
    )
