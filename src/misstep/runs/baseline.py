"""Compares a run with an earlier one to find regressions."""

from misstep.core.results.comparison import Comparison, Held, TaskComparison
from misstep.core.run import KINDS
from misstep.core.settings import Settings
from misstep.errors import NoStoreYet, UsageError
from misstep.runs.kinds import feature_of
from misstep.store.runs import Store

LAST = "last"


def find_baseline(settings: Settings, verb: str, own: str = "") -> str:
    """The id of the run that `--baseline` names, which has to be of the same command.

    `last` is the newest finished run before `own`, the current run if it already exists; empty if there is
    none.
    """
    try:
        with Store(settings.store) as store:
            if settings.baseline == LAST:
                return _last(store, verb, own)
            run = store.find_run(settings.baseline)
    except NoStoreYet:
        if settings.baseline == LAST:
            return ""
        raise
    except UsageError as error:
        hint = "the baseline has to be in the same store as the run: --store names it"
        raise UsageError(f"--baseline: {error.message}", *error.hints, hint, where=error.where) from error
    if run.purpose.verb != verb:
        hint = f"name a run of it; {LAST} is the newest"
        raise UsageError(
            f"run {run.id} is one of {run.purpose.command}, not of {KINDS[verb].command}",
            hint,
            where="--baseline",
        )
    return run.id


def _last(store: Store, verb: str, own: str) -> str:
    runs = store.list_runs()
    if own:
        itself = store.find_run(own).id
        runs = runs[1 + [run.id for run in runs].index(itself) :]
    return next((run.id for run in runs if run.purpose.verb == verb and run.summary), "")


def hold_against(settings: Settings, baseline: str, run: str) -> Held:
    """Compare a run with its baseline; a `UsageError` if they have nothing in common."""
    if not baseline:
        return Held("")
    with Store(settings.store) as store:
        purpose = store.find_run(run).purpose
    return feature_of(purpose).hold(settings, baseline, run)


def held_of(comparison: Comparison | TaskComparison, unit: str) -> Held:
    worse = comparison.pairing.difference < 0
    return Held(
        comparison.first,
        regressed=comparison.significant and worse,
        significant=comparison.significant,
        unit=unit,
        pairing=comparison.pairing,
        lost=comparison.lost,
        won=comparison.won,
    )


def nothing_in_common(baseline: str, run: str, unit: str, hint: str) -> UsageError:
    return UsageError(f"runs {baseline} and {run} have no judged {unit} in common", hint)
