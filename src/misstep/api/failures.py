"""The failures of a stored run, to be looked into by runs of their own."""

from collections.abc import Sequence

from misstep.api.capability import capability_of
from misstep.core.dice import Dice
from misstep.core.settings import BUDGETS, Settings
from misstep.store.runs import Run, Store

# What a run that looks into another takes from its own command; all the rest is as it was.
_OWN = (
    *BUDGETS,
    "confidence",
    "display",
    "dry_run",
    "json",
    "method",
    "most_runs",
    "mutations",
    "on",
    "ray_address",
    "report",
    "report_dir",
    "resume",
    "sample",
    "seed",
    "store",
)


def settings_for(settings: Settings, run: Run) -> Settings:
    """The settings of a run that looks into `run`: the same agent under the same limits.

    No cache: an agent that is run again has to be asked again. No files: the cases are in the store.
    """
    own = {name: getattr(settings, name) for name in _OWN}
    return run.settings.overlay({**own, "cache": False, "cases": "", "exhaustive": False, "count": None})


def find_failures(store: Store, run: Run, names: Sequence[str]) -> list[str]:
    """The ids of the cases that are named, or of all that failed within the agent's capability."""
    if names:
        return [store.find_outcome(run.id, name).case.id for name in names]
    limit = capability_of(store, run).limit if run.purpose.verb == "capability" else None
    return [
        outcome.case.id
        for outcome in store.outcomes(run.id, "failed")
        if limit is None or len(outcome.case.actions) <= limit
    ]


def draw_sample(failures: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """At most as many as were asked for, drawn by the seed, in the order in which they failed."""
    if len(failures) <= settings.sample:
        return tuple(failures)
    drawn = {*Dice(settings.seed).sample(failures, settings.sample)}
    return tuple(name for name in failures if name in drawn)
