"""Shrinking: the smallest problem on which an agent still fails."""

from misstep.api.conduct import Known, Work, begin, go_on
from misstep.api.failures import settings_for
from misstep.core.agent import Agent
from misstep.core.campaign import Campaign, Inquiries
from misstep.core.case import Case
from misstep.core.event import Listener
from misstep.core.purpose import Purpose
from misstep.core.reduction import Reduction
from misstep.core.settings import Settings, check_settings
from misstep.errors import UsageError
from misstep.planning.shrinking.shrinker import shrink
from misstep.store.runs import Run, Store

MOST_RUNS = 500


def shrink_case(
    settings: Settings, name: str, case: str, *listeners: Listener, agent: Agent | None = None
) -> tuple[str, Reduction]:
    """Shrink a failed case of a run; the run that did it holds a failure of the smallest one."""
    settings = check_settings(settings)
    with Store(settings.store) as store:
        run = store.find_run(name)
        outcome = store.find_outcome(run.id, case)
        if outcome.verdict.verdict != "failed":
            raise UsageError(
                f"case {outcome.case.id} of run {run.id} has not failed: it is {outcome.verdict.verdict}",
                f"misstep show {run.id} lists those that have",
            )
        own = settings_for(settings, run)
        work = _work(store, own, Purpose("shrink", run.id, (outcome.case.id,)))
        summary = begin(own, work, listeners, agent)
    return _result(settings, summary.run)


def resume_shrinking(
    settings: Settings, *listeners: Listener, agent: Agent | None = None
) -> tuple[str, Reduction]:
    """Go on where it was stopped."""
    settings = check_settings(settings)

    def plan(store: Store, run: Run) -> Work:
        return _work(store, run.settings, run.purpose)

    summary = go_on(settings, "shrink", plan, listeners, agent)
    return _result(settings, summary.run)


def view_reduction(settings: Settings, name: str) -> Reduction | None:
    """What a stored run has shrunk its case to; None before it has come to its end."""
    with Store(settings.store) as store:
        run = store.find_run(name)
        inquiries = _inquiries(store, run.settings, run.purpose, lambda case: store.find_kept(run.id, case))
        inquiries.ask(1)
        return inquiries.found[0] if inquiries.found else None


def _result(settings: Settings, run: str) -> tuple[str, Reduction]:
    found = view_reduction(settings, run)
    assert found is not None
    return run, found


def _work(store: Store, settings: Settings, purpose: Purpose) -> Work:
    def campaign(known: Known) -> Campaign:
        return _inquiries(store, settings, purpose, known)

    def sample() -> list[Case]:
        return [store.find_outcome(purpose.run, purpose.cases[0]).case]

    return Work(campaign, sample, most=settings.most_runs or MOST_RUNS, purpose=purpose)


def _inquiries(store: Store, settings: Settings, purpose: Purpose, known: Known) -> Inquiries[Reduction]:
    failure = store.find_outcome(purpose.run, purpose.cases[0])
    return Inquiries([shrink(failure, settings.confidence, settings.most_runs or MOST_RUNS)], known)
