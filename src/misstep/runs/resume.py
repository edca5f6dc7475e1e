"""Finds stopped runs that can be resumed."""

from collections.abc import Collection
from typing import Any

from msgspec import structs

from misstep.core.results.fixing import read_text
from misstep.core.run import KINDS
from misstep.core.settings import MEANS, Settings, store_flag
from misstep.errors import UsageError
from misstep.runs.trust import refuse_foreign
from misstep.store.database import going_on
from misstep.store.runs import Run, Store


def find_resumable(store: Store, name: str, verb: str) -> Run:
    """The run, if it is of this kind and no process works on it; a `UsageError` says why not.

    A finished run has a summary: it can only be shown.
    """
    run = store.find_run(name)
    if run.purpose.verb == "paper":
        raise UsageError(f"run {run.id} was to last for a time, and can't be gone on with", "start it again")
    if run.purpose.verb != verb:
        place = store_flag(store.location)
        hint = f"go on with it by: misstep {run.purpose.command} --resume {run.id}{place}"
        ours = KINDS[verb].command
        raise UsageError(f"run {run.id} is not from {ours}, but from {run.purpose.command}", hint)
    if run.summary:
        return run
    if store.is_held(run.id):
        raise going_on(run.id, store.holder(run.id))
    return run


def refuse_unfit(settings: Settings, run: Run, given: Collection[str] = ()) -> None:
    """Raise a `UsageError` if a run to be resumed is not trusted or its tool descriptions have changed.

    `given` are settings whose value comes from the user instead.
    """
    refuse_foreign(settings, run, given)
    if read_text(run.settings.descriptions) != run.purpose.descriptions:
        hint = "put back what it said when the run began, or start the run again"
        raise UsageError(f"has changed since run {run.id} began", hint, where=run.settings.descriptions)


def take_up(store: Store, settings: Settings, verb: str) -> Run:
    """The run to be resumed, under the settings it was started with and its new budgets."""
    run = find_resumable(store, settings.resume, verb)
    if run.summary:
        return structs.replace(run, settings=run.settings.overlay({"trust_store": settings.trust_store}))
    refuse_unfit(settings, run)
    return structs.replace(run, settings=run.settings.overlay(new_means(settings)))


def new_means(settings: Settings) -> dict[str, Any]:
    """Settings that may differ from the start: budgets, if given, place, and whether the store is trusted."""
    said = {name: value for name in MEANS if (value := getattr(settings, name)) is not None}
    place = {"on": settings.on, "ray_address": settings.ray_address}
    return {**said, **place, "trust_store": settings.trust_store}
