"""Measures how long commands take on a large store."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import Any

import msgspec

from benchmarks.measure import Effort, Mark, Row
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings
from misstep.core.spending import Spent
from misstep.features.plan_test.run import run_agent
from misstep.store.runs import Store

postgresql: Any = import_module("tests.postgresql")  # the tests are not typed

RUNS, CASES = 1000, 100_000
SAMPLE = 1000  # real outcomes, which are stored repeatedly under other ids
BATCH = 500
TIMES = 5


class Waits(msgspec.Struct, frozen=True):
    """Wall-clock seconds of whole commands."""

    runs: float
    finished: float
    unfinished: float


def storing_rows(effort: Effort) -> Iterator[Row]:
    runs, cases, times = effort.size(RUNS), effort.size(CASES), effort.times(TIMES)
    how, mark = f"wall time of the whole command, best of {times}", Mark("<", 1)
    with tempfile.TemporaryDirectory() as folder:
        ours = _wait(f"{folder}/store.db", runs, cases, times)
    yield Row(f"misstep runs, {runs:,} runs", ours.runs, "s", how, mark)
    yield Row(f"misstep show, {cases:,} cases", ours.finished, "s", how, mark)
    yield Row("… of an unfinished run", ours.unfinished, "s", how, mark)
    if binaries := postgresql.find_binaries():
        with postgresql.running_server(binaries) as server, server.database() as location:
            theirs = _wait(location, runs, cases, times)
        yield Row("misstep runs on PostgreSQL", theirs.runs, "s", "the same, server on loopback")
        yield Row("misstep show on PostgreSQL", theirs.finished, "s", "the same")
        yield Row("… of an unfinished run", theirs.unfinished, "s", "the same")


def _wait(location: str, runs: int, cases: int, times: int) -> Waits:
    large = fill_store(location, runs, cases)
    listing = _seconds(times, "runs", "--store", location)
    unfinished = _seconds(times, "show", large, "--store", location)
    _finish(location, large)
    return Waits(listing, _seconds(times, "show", large, "--store", location), unfinished)


def fill_store(location: str, runs: int, cases: int) -> str:
    """Fill a store with `runs` runs, and return the id of an unfinished one that has `cases` outcomes."""
    settings = Settings(agent="sim:random", count=SAMPLE, store=location)
    summary = run_agent(settings)
    with Store(location) as store:
        sample = list(store.outcomes(summary.run))
        for number in range(runs - 2):
            store.finish_run(store.add_run(settings, SAMPLE, float(number)).id, summary)
        large = store.add_run(settings.overlay({"count": cases}), cases, time.time()).id
        kept = _renamed(sample, cases)
        with store.sit(large, time.time()) as seat:
            while batch := list(islice(kept, BATCH)):
                seat.keep(batch, Spent())
    return large


def _renamed(sample: list[Outcome], count: int) -> Iterator[Outcome]:
    replace = msgspec.structs.replace
    for number in range(count):
        outcome = sample[number % len(sample)]
        name = f"{outcome.case.id}-{number:06x}"
        case, transcript = replace(outcome.case, id=name), replace(outcome.transcript, case=name)
        yield replace(outcome, case=case, transcript=transcript)


def _finish(location: str, run: str) -> None:
    """Mark the run as finished, with a summary of its outcomes."""
    with Store(location) as store:
        summary = store.tally(run).summary(run, "sim:random", None, None)
        store.finish_run(run, summary)


def _seconds(times: int, *arguments: str) -> float:
    """The minimum wall-clock seconds of a command in a fresh process."""
    return min(_wall(arguments) for _ in range(times))


def _wall(arguments: tuple[str, ...]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "misstep", *arguments], check=True, capture_output=True)
    return time.perf_counter() - began
