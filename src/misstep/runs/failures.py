"""The failures of a stored run, to be looked into by runs of their own."""

from collections.abc import Iterator, Sequence

from misstep.core.outcome import Outcome
from misstep.core.rng import Dice
from misstep.core.settings import BUDGETS, Settings
from misstep.errors import UsageError
from misstep.runs.kinds import feature_of
from misstep.runs.lookup import find_planned
from misstep.runs.trust import with_agent
from misstep.store.runs import Run, Store

# What a run that looks into another takes from its own command; all the rest is as it was.
_OWN = (
    *BUDGETS,
    "confidence",
    "display",
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


def settings_for(settings: Settings, run: Run, has_agent: bool = False) -> Settings:
    """The settings of a run that looks into `run`: the same agent under the same limits, or the agent that
    the settings name. `has_agent` says that the user has one at hand.

    No cache: an agent that is run again has to be asked again. No files: the cases are in the store.
    """
    own = {name: getattr(settings, name) for name in _OWN}
    run = with_agent(settings, run, has_agent)
    return run.settings.overlay({**own, "cache": False, "cases": "", "exhaustive": False, "count": None})


def find_subject(store: Store, name: str) -> Run:
    """The run that is named; in the place of a dissection, the run whose failures it looks into."""
    run = find_planned(store, name)
    return store.find_run(run.purpose.run) if run.purpose.verb == "dissect" else run


def find_failure(store: Store, run: Run, name: str) -> Outcome:
    """A case of a run that has failed; a `UsageError` where it has not."""
    outcome = store.find_outcome(run.id, name)
    if outcome.verdict.verdict != "failed":
        raise UsageError(
            f"case {outcome.case.id} of run {run.id} has not failed: it is {outcome.verdict.verdict}",
            f"misstep show {run.id} lists those that have",
        )
    return outcome


def choose_failures(store: Store, run: Run, names: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """The ids of the cases that are named, or of a sample of those within the agent's capability."""
    if names:
        return tuple(dict.fromkeys([find_failure(store, run, name).case.id for name in names]))
    # Sorted, since they arrived in an order that was left to chance.
    failures = sorted(outcome.case.id for outcome in _within_capability(store, run))
    return tuple(Dice(settings.seed).sample(failures, min(settings.sample, len(failures))))


def _within_capability(store: Store, run: Run) -> Iterator[Outcome]:
    limit = feature_of(run.purpose).most_actions(store, run)
    for outcome in store.outcomes(run.id, "failed"):
        if len(outcome.case.actions) <= limit:
            yield outcome
