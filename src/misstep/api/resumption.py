"""Runs that were stopped, to be gone on with."""

from typing import Any

from misstep.core.purpose import Purpose, Verb
from misstep.core.settings import BUDGETS, Settings, store_flag
from misstep.errors import UsageError
from misstep.store.database import going_on
from misstep.store.runs import Run, Store


def find_resumable(store: Store, name: str, verb: Verb) -> Run:
    """The run, if it is of this kind and nobody works on it; a `UsageError` says what stands in the way."""
    run = store.find_run(name)
    if run.summary:
        raise UsageError(f"run {run.id} has finished", f"misstep show {run.id} shows it")
    if run.purpose.verb == "paper":
        raise UsageError(f"run {run.id} was to last for a time, and can't be gone on with", "start it again")
    if run.purpose.verb != verb:
        place = store_flag(store.location)
        hint = f"go on with it by: misstep {run.purpose.command} --resume {run.id}{place}"
        ours = Purpose(verb).command
        raise UsageError(f"run {run.id} is not from {ours}, but from {run.purpose.command}", hint)
    if store.is_held(run.id):
        raise going_on(run.id)
    return run


def new_means(settings: Settings) -> dict[str, Any]:
    """What may differ from when the run was started: how much it may use, if that is said, and where."""
    budgets = {name: getattr(settings, name) for name in BUDGETS}
    raised = {name: value for name, value in budgets.items() if value is not None}
    return {**raised, "on": settings.on, "ray_address": settings.ray_address}
