"""Stored runs: list them, look into one."""

from collections.abc import Iterator
from itertools import islice

import msgspec

from misstep.api.summaries import summarise_sets, summarise_stored, summarise_tasks, summarise_tools
from misstep.core.benchmark import TaskReport
from misstep.core.case import Case
from misstep.core.consistency import ConsistencyReport
from misstep.core.crosstalk import GroupReport
from misstep.core.difficulty import Difficulty
from misstep.core.fixing import FixReport
from misstep.core.outcome import Outcome
from misstep.core.run_spec import BENCHMARKS
from misstep.core.settings import Settings
from misstep.core.summary import Summary
from misstep.errors import StoreError, UsageError
from misstep.planning.difficulty import measure
from misstep.store.runs import DamagedRun, Run, Store


class Listed(msgspec.Struct, frozen=True):
    """A run, and whether somebody is at it now."""

    run: Run
    live: bool


class Overview(msgspec.Struct, frozen=True):
    """A run, and what it has come to so far."""

    run: Run
    live: bool
    summary: Summary


class RunView(msgspec.Struct, frozen=True):
    """A run, its summary so far, and some of the outcomes that did not pass."""

    run: Run
    live: bool
    summary: Summary
    failures: tuple[Outcome, ...]


def list_runs(settings: Settings, most: int | None = None) -> tuple[list[Listed], int]:
    """Runs of the store, the newest first, `most` of them if that is said, and how many there are in all."""
    with Store(settings.store) as store:
        runs = store.list_runs()
        return [Listed(run, is_live(store, run)) for run in runs[:most]], len(runs)


def list_damaged(settings: Settings) -> list[DamagedRun]:
    """Runs of the store that can't be read, the newest first."""
    with Store(settings.store) as store:
        return [run for run in store.survey_runs() if isinstance(run, DamagedRun)]


def look_over(settings: Settings, skip: int, most: int) -> tuple[list[Overview | DamagedRun], int]:
    """Runs of the store behind the newest `skip`, up to `most` of them, and how many there are in all."""
    with Store(settings.store) as store:
        runs = store.survey_runs()
        return [_look_at(store, run) for run in runs[skip : skip + most]], len(runs)


def _look_at(store: Store, run: Run | DamagedRun) -> Overview | DamagedRun:
    if isinstance(run, DamagedRun):
        return run
    try:
        return Overview(run, is_live(store, run), summary_of(store, run))
    except (StoreError, UsageError) as error:
        return DamagedRun(run.id, "; ".join(error.hints) or error.message)


def find_run(settings: Settings, name: str) -> Run:
    """A run of the store as such."""
    with Store(settings.store) as store:
        return store.find_run(name)


def view_run(settings: Settings, name: str, most: int) -> RunView:
    """A run with up to `most` of its failures."""
    with Store(settings.store) as store:
        run = store.find_run(name)
        summary = summary_of(store, run)
        failures = tuple(islice(_not_passed(store, run), most))
        return RunView(run, is_live(store, run), summary, failures)


def view_case(settings: Settings, name: str, case: str) -> tuple[Run, Outcome]:
    with Store(settings.store) as store:
        run = store.find_run(name)
        return run, store.find_outcome(run.id, case)


def difficulty_of(case: Case) -> Difficulty:
    """How hard a case is, for whoever shows it in full."""
    return measure(case)


def summary_of(store: Store, run: Run) -> Summary:
    """What a run has come to, at its end or so far."""
    return run.summary or _summary_so_far(store, run)


def _summary_so_far(store: Store, run: Run) -> Summary:
    if run.purpose.verb == "crosstalk":
        return summarise_sets(run, store.tool_documents(run.id, GroupReport))
    if run.purpose.verb == "consistency":
        return summarise_sets(run, store.tool_documents(run.id, ConsistencyReport))
    if run.purpose.verb == "fix":
        return summarise_sets(run, store.tool_documents(run.id, FixReport))
    if run.purpose.verb in BENCHMARKS:
        return summarise_tasks(run, store.tool_documents(run.id, TaskReport))
    if run.purpose.verb == "fuzz":
        return summarise_tools(run, store.tool_reports(run.id))
    return summarise_stored(store.tally(run.id), run)


def is_live(store: Store, run: Run) -> bool:
    """Whether somebody is at a run now."""
    return run.summary is None and store.is_held(run.id)


def _not_passed(store: Store, run: Run) -> Iterator[Outcome]:
    for verdict in ("failed", "errored", "inconclusive"):
        yield from store.outcomes(run.id, verdict)
