"""Finds the smallest problem on which an agent still fails."""

from misstep.core.agent import Agent
from misstep.core.event import Estimate, Listener
from misstep.core.results.diagnosis import Reduction
from misstep.core.run import Inquiries, RunSpec
from misstep.core.settings import Settings, ShrinkSettings, StoreSettings
from misstep.core.settings.reading import check_settings
from misstep.planning.shrinking.shrinker import shrink
from misstep.runs.lifecycle import RunWork, estimate, resume, start
from misstep.runs.lookup import find_failure, find_subject, settings_for
from misstep.store.runs import Store

MOST_RUNS = 500


def shrink_case(
    settings: ShrinkSettings, name: str, case: str, *listeners: Listener, agent: Agent | None = None
) -> tuple[str, Reduction]:
    """Shrink a failed case of a run; the new run holds a failure of the smallest case."""
    settings = check_settings(settings)
    with Store(settings.store) as store:
        own, work = _prepare(store, settings, name, case, agent is not None)
        summary = start(own, work, listeners, agent)
    return _result(settings, summary.run)


def resume_shrinking(
    settings: ShrinkSettings, *listeners: Listener, agent: Agent | None = None
) -> tuple[str, Reduction]:
    settings = check_settings(settings)
    summary = resume(
        settings, "shrink", lambda store, run: _work(store, run.settings, run.purpose), listeners, agent
    )
    return _result(settings, summary.run)


def estimate_shrinking(settings: ShrinkSettings, name: str, case: str) -> tuple[Settings, Estimate]:
    """The settings that would be used, and the highest cost to expect."""
    settings = check_settings(settings)
    with Store(settings.store) as store:
        own, work = _prepare(store, settings, name, case)
        return own, estimate(own, work)


def view_reduction(settings: StoreSettings, name: str) -> Reduction | None:
    """What a stored run has shrunk its case to; None if it has not finished."""
    with Store(settings.store) as store:
        found = store.find_result(store.find_run(name).id, Reduction)
        return found[0] if found else None


def _result(settings: StoreSettings, run: str) -> tuple[str, Reduction]:
    found = view_reduction(settings, run)
    assert found is not None
    return run, found


def _prepare(
    store: Store, settings: ShrinkSettings, name: str, case: str, has_agent: bool = False
) -> tuple[Settings, RunWork]:
    run = find_subject(store, name)
    failure = find_failure(store, run, case)
    own = settings_for(settings, run, has_agent)
    return own, _work(store, own, RunSpec("shrink", run.id, (failure.case.id,)))


def _work(store: Store, settings: ShrinkSettings, purpose: RunSpec) -> RunWork:
    most = settings.most_runs or MOST_RUNS
    failure = store.find_outcome(purpose.run, purpose.cases[0])
    return RunWork(
        campaign=lambda known: Inquiries([shrink(failure, settings.confidence, most)], known),
        sample=lambda: [failure.case],
        most=most,
        purpose=purpose,
    )
