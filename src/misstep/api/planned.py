"""Runs on plans, where no others will do."""

from misstep.core.run_spec import UNITS
from misstep.core.settings import store_flag
from misstep.errors import UsageError
from misstep.store.runs import Run, Store


def find_planned(store: Store, name: str, *hints: str) -> Run:
    """The run that is named; a `UsageError` with these hints where it has no cases, but tools or tasks."""
    run = store.find_run(name)
    if run.purpose.verb in UNITS:
        message = f"run {run.id} is from {run.purpose.command}, which has no cases to plan for"
        shown = f"misstep show {run.id}{store_flag(store.location)} shows it"
        raise UsageError(message, "name a run of misstep plan test or plan capability", shown, *hints)
    return run
