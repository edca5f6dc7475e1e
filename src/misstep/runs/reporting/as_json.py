"""A stored run as the object that `--json` prints, and as the events that listeners got."""

from collections.abc import Iterator
from typing import Any

from misstep.core.event import Event, RunFinished, RunStarted
from misstep.core.run import Unit
from misstep.core.settings import Settings
from misstep.runs.kinds import feature_of
from misstep.runs.lookup import view_run
from misstep.store.runs import Store


def run_as_json(settings: Settings, name: str) -> dict[str, Any]:
    view = view_run(settings, name, 0)
    return feature_of(view.run.purpose).as_json(settings, view.run, view.summary)


def retell(settings: Settings, name: str, unit: Unit) -> Iterator[Event]:
    """The events as if the run had been done in one session; only a few are in memory at a time."""
    run = view_run(settings, name, 0).run
    yield RunStarted(run.id, run.total, {}, unit=unit)
    with Store(settings.store) as store:
        yield from feature_of(run.purpose).events(store, run)
    if run.summary:
        yield RunFinished(run.id, run.summary)
