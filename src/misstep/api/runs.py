"""Stored runs: list them, look into one."""

from collections.abc import Iterator
from itertools import islice

import msgspec

from misstep.api.plan import replay_case
from misstep.api.sitting import summarise
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings
from misstep.core.summary import Summary, Tally
from misstep.errors import UsageError
from misstep.store.runs import Run, Store


class RunView(msgspec.Struct, frozen=True):
    """A run, its summary so far, and some of the outcomes that did not pass."""

    run: Run
    summary: Summary
    failures: tuple[Outcome, ...]


def list_runs(settings: Settings) -> list[Run]:
    """All runs of the store, the newest first."""
    with Store(settings.store) as store:
        return store.list_runs()


def view_run(settings: Settings, name: str, most: int) -> RunView:
    """A run with up to `most` of its failures."""
    with Store(settings.store) as store:
        run = store.find_run(name)
        summary = run.summary or _summary_so_far(store, run)
        return RunView(run, summary, tuple(islice(_not_passed(store, run), most)))


def view_case(settings: Settings, name: str, case: str) -> tuple[Run, Outcome]:
    with Store(settings.store) as store:
        run = store.find_run(name)
        return run, store.find_outcome(run.id, case)


def replay(settings: Settings, finding: str) -> tuple[Outcome, Outcome]:
    """What happened to a case, `RUN/CASE`, and what happens when it is run once more."""
    name, slash, case = finding.partition("/")
    if not slash or not case:
        raise UsageError(f"'{finding}' names no case", "expected RUN/CASE, as misstep show prints it")
    run, before = view_case(settings, name, case)
    return before, replay_case(before.case, run.settings)


def _summary_so_far(store: Store, run: Run) -> Summary:
    tally = Tally()
    for outcome in store.outcomes(run.id):
        tally.add(outcome)
    return summarise(tally, run.id, run.settings)


def _not_passed(store: Store, run: Run) -> Iterator[Outcome]:
    for verdict in ("failed", "errored", "inconclusive"):
        yield from store.outcomes(run.id, verdict)
